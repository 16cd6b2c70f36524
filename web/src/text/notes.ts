// Notes in Chinese. On the left is a sentence as the binary makes it, with `{}` where something is filled in (crates/measure/src/notes.rs;
// a test there wants each of them here); on the right the same places come in the same order.

const CHINESE: [string, string][] = [
  ["{} took no connection {} times ({}), and another address of the same name was tried each time: addresses of a name take turns", "{} 有 {} 次没有接受连接（{}），每次都改试同一名称的另一个地址：一个名称的多个地址轮流使用"],
  ["the controller of the agents itself did not run for {} s, until {} s into the run: what they told meanwhile came late, and an agent that hears nothing for --lease ends its load", "控制各 agent 的进程自己有 {} 秒没有运行，直到运行的第 {} 秒：其间各 agent 报告的内容到得晚，而 agent 在 --lease 的时间内什么也没有听到就结束负载"],
  ["the origin was never asked and the proxy answered {} times with 5xx: it must be able to reach {}", "源站从未被请求，而代理有 {} 次返回 5xx：它必须能访问 {}"],
  ["the origin was never asked and the proxy answered {} times with 5xx: it must be able to reach {}; what was good, it had stored before", "源站从未被请求，而代理有 {} 次返回 5xx：它必须能访问 {}；正确的回答是它以前缓存的"],
  ["{} requests came to the origin twice, and no client sent them twice: the proxy tries again, fetches in parts, or makes two requests of one", "有 {} 个请求到达源站两次，而没有客户端发送两次：代理重试、分段获取，或把一个请求变成了两个"],
  ["{} requests came to the origin without the field {}, which each client sends: the proxy takes it out, asks by itself (health checks), or takes a part of one request for another one", "有 {} 个请求到达源站时没有每个客户端都会发送的字段 {}：代理去掉了它、自行请求（健康检查），或把一个请求的一部分当成了另一个请求"],
  ["the proxy does not pass the field {} on: {} answers do not say whom they were made for. Private answers, cookies and errors given to another are seen only when they come again", "代理不转发字段 {}：有 {} 个回答没有说明是给谁的。给错人的私有回答、Cookie 和错误只有再次出现时才能发现"],
  ["{} of {} hits had no Age, {} of them a Date later than they were made at: a cache behind this one keeps them too long", "{} / {} 个命中没有 Age，其中 {} 个的 Date 晚于生成时间：后面的缓存会保留过久"],
  ["{} hits were of an older version than one that had come before: caches that do not share, or fetches that are not stored", "{} 个命中的版本比先前到达的更旧：互不共享的缓存，或未存储的获取"],
  ["{} of {} answers said of themselves that they were hits or misses (X-Cache, Cache-Status), and were not", "{} / {} 个回答自称命中或未命中（X-Cache、Cache-Status），实际不是"],
  ["the Set-Cookie of the origin was missing in {} answers, and {} had one that is not the origin's", "{} 个回答缺少源站的 Set-Cookie，{} 个带有不是源站的"],
  ["{} whole answers lacked an ETag, a Last-Modified or a Content-Type, which the origin gives with each", "{} 个完整回答缺少源站给出的 ETag、Last-Modified 或 Content-Type"],
  ["of {} whole answers whose fields a 304 of the origin had renewed, {} lacked one that it gives (ETag, Last-Modified, Content-Type, Vary, Set-Cookie, Wringer-Unchanged), and {} had another value of one, or a Set-Cookie that is not the origin's", "{} 个完整回答的字段已由源站的 304 更新，其中 {} 个缺少源站给出的某个字段（ETag、Last-Modified、Content-Type、Vary、Set-Cookie、Wringer-Unchanged），{} 个的某个字段值不同，或带有不是源站的 Set-Cookie"],
  ["of {} requests for the head alone {} were hits without a Content-Length, which the origin gives: whoever asks so cannot know how large the object is", "{} 个 HEAD 请求中有 {} 个命中没有源站给出的 Content-Length：询问者无法知道对象有多大"],
  ["{} of {} purges were not acknowledged: the proxy does not know the method, passes it on, or wants a secret; --purge-by and --purge-header say how it is asked", "{} / {} 次清除未被确认：代理不认识该方法、把它转发了，或需要密钥；用 --purge-by 和 --purge-header 指定清除方式"],
  ["{} of {} commands of --purge-command failed, the first one so: {}", "{} / {} 个 --purge-command 命令失败，第一个是：{}"],
  ["{} purges were left out: four commands of --purge-command were under way each time", "{} 次清除未执行：每次都已有四个 --purge-command 命令在运行"],
  ["{} purges were followed by hits of what had been made before, the last one {} ms after the acknowledgement in the mean, {} ms at most ({})", "{} 次清除之后仍有先前内容的命中，最后一次平均在确认后 {} 毫秒，最长 {} 毫秒（{}）"],
  ["requests for one object wait for each other: of {} sent while it was being fetched, and answered by a fetch of their own, {} waited for the end of the other one, {} ms in the mean; beside other objects {} did", "同一对象的请求互相等待：获取进行中发出、又各自获取的 {} 个请求中，{} 等到另一个结束，平均 {} 毫秒；其他对象为 {}"],
  ["answers became slower with time: the median was {} us at first and {} us {} s later, though they were of the same kind", "应答随时间变慢：中位数起初为 {} 微秒，之后为 {} 微秒（{} 秒后），而应答种类不变"],
  ["answers became dearer with time: the target took {} us of CPU for each at first and {} us {} s later, though they were of the same kind", "应答随时间变贵：目标起初每个应答用 {} 微秒 CPU，之后为 {} 微秒（{} 秒后），而应答种类不变"],
  ["the target's memory grew by {} after it was warm, though only {} were fetched meanwhile", "目标预热后内存又增长了 {}，而其间只获取了 {}"],
  ["{} hits were of what had been purged, {} ms after the acknowledgement in the mean: within the time that a purge may take", "{} 个命中是已清除的内容，平均在确认后 {} 毫秒：仍在清除所允许的时间内"],
  ["the origin did not answer any more at the end: its accounts end {} s into the run, so nothing is said of offload", "源站在结束时不再回答：它的计数止于运行的第 {} 秒，因此不报告卸载率"],
  ["the origin's accounts could not be joined: {}", "无法合并源站的计数：{}"],
  ["the origin serves other objects than these clients expect: give both the same options for objects", "源站提供的对象与客户端期望的不同：请给两边相同的对象选项"],
  ["{}, so epoll was used", "{}，因此使用了 epoll"],
  ["{} lines were not shown while the run went on: nobody took them fast enough", "运行中有 {} 行没有显示：接收方读取得不够快"],
  ["{} single requests were not kept: the run file could not be written so fast; --keep 1/N keeps fewer", "有 {} 个单独的请求没有保存：运行文件写入不够快；--keep 1/N 会少保存一些"],
  ["the run file {} cannot be written: {}. The run goes on; free some space, or choose another place with --keep-in", "运行文件 {} 无法写入：{}。运行继续；请腾出空间，或用 --keep-in 另选位置"],
  ["the qlog file {} is incomplete: {}", "qlog 文件 {} 不完整：{}"],
  ["from {} s on the rate was {}/s, set by {}: the command does not repeat that, `wringer runs repeat --plan` does", "从第 {} 秒起速率为 {}/s，由 {} 设定：命令不会重复这一点，`wringer runs repeat --plan` 会"],
  ["nothing was left to send after {} of {} requests: rows or URLs that are used once had run out", "发送 {} 个请求后（计划 {} 个）已无可发送：只用一次的数据行或 URL 已用完"],
  ["the run was stopped after {} s by its condition: {}, since {} s", "运行在 {} 秒后按设定条件停止：{}，自第 {} 秒起"],
  ["the run was stopped after {} s by {}", "运行在 {} 秒后由 {} 停止"],
  ["mark at {} s: {}", "第 {} 秒的标记：{}"],
  ["the last {} bytes of the run file cannot be read: writing stopped there, or they are damaged", "运行文件的最后 {} 字节无法读取：写入在那里停止，或它们已损坏"],
  ["records are missing at byte {} of the run file ({} bytes)", "运行文件在第 {} 字节处缺少记录（{} 字节）"],
  ["this run ended without a word: it is known until {} s after its start", "此运行没有结束记录：只知道开始后 {} 秒以内的情况"],
  ["the run ended without a word: nothing is known of the generator", "运行没有结束记录：压测机的情况未知"],
  ["no request was sent", "没有发送任何请求"],
  ["none of {} requests reached it: this machine had no port or descriptor left for them", "{} 个请求全都没有到达目标：本机没有剩余的端口或文件描述符"],
  ["silent from {} s on: nothing came in the {} s after that", "从第 {} 秒起没有响应：此后 {} 秒内没有收到任何数据"],
  ["nothing came from it in {} s", "{} 秒内没有收到任何数据"],
  ["no good answer from {} s on: none of the {} requests of the {} s after that got one", "从第 {} 秒起没有一个正确的响应：{} 个请求在此后 {} 秒内全都没有得到正确的响应"],
  ["{} of {} requests got no good answer", "{} 个请求没有得到正确的响应，共 {} 个"],
  ["not one of {} requests got a good answer", "{} 个请求全都没有得到正确的响应"],
  ["lost {} of {} requests, begun at {} s: no whole answer in up to {} s", "丢失 {} 个请求，共 {} 个，开始于第 {} 秒：等待最长 {} 秒仍没有完整的响应"],
  ["lost {} of {} requests, begun at {} s: no whole answer in up to {} s ({})", "丢失 {} 个请求，共 {} 个，开始于第 {} 秒：等待最长 {} 秒仍没有完整的响应（{}）"],
  ["refused the connections of {} of {} requests", "拒绝了 {} 个请求的连接，共 {} 个请求"],
  ["answered {} of {} requests with status {}, not expected", "对 {} 个请求（共 {} 个）返回了意料之外的状态 {}"],
  ["{} of {} requests failed: {}", "{} 个请求失败，共 {} 个：{}"],
  ["{} of {} requests failed otherwise", "{} 个请求以其他方式失败，共 {} 个"],
  ["in {} of {} answers a check failed: {}", "{} 个响应未通过检查，共 {} 个：{}"],
  ["sent bytes that no request had asked for ({}×)", "发送了没有请求过的数据（{} 次）"],
  ["the cache stopped storing {} s into the run: of {} requests after that which were due to be hits {} were, before that {}", "缓存在运行的第 {} 秒停止存储：此后 {} 个应当命中的请求中有 {} 个命中，此前命中率为 {}"],
  ["{} objects were no hit the last {} times or more that they were due to be one, others of their size were in {}: {} (after a client broke off: {}, after a failure or a cut: {}; never a hit, so that their entries are blocked: {})", "{} 个对象最近至少 {} 次应当命中而未命中，同等大小的其他对象命中率为 {}：{}（此前客户端中断的：{}，此前失败或被截断的：{}；从未命中、即条目被阻塞的：{}）"],
  ["process {} (pid {}) was ended by {} {} s into the run", "进程 {}(pid {})被信号 {} 终止，时间为运行的第 {} 秒"],
  ["process {} (pid {}) ended with exit code {} {} s into the run", "进程 {}(pid {})以退出码 {} 结束，时间为运行的第 {} 秒"],
  ["process {} (pid {}) ended {} s into the run, and only its parent was told how", "进程 {}(pid {})在运行的第 {} 秒结束，原因只有其父进程知道"],
  ["{}, and nobody listens at {} since", "{}，此后 {} 上无进程监听"],
  ["worker {} of {} (pid {}) was ended by {} {} s into the run", "工作进程 {}（属于 {},pid {}）被信号 {} 终止，时间为运行的第 {} 秒"],
  ["worker {} of {} (pid {}) ended with exit code {} {} s into the run", "工作进程 {}（属于 {},pid {}）以退出码 {} 结束，时间为运行的第 {} 秒"],
  ["worker {} of {} (pid {}) ended {} s into the run, and only its parent was told how", "工作进程 {}（属于 {},pid {}）在运行的第 {} 秒结束，原因只有其父进程知道"],
  ["{}, and process {} took its place", "{}，进程 {} 接替了它"],
  ["{} (pid {}) began {} new workers {} s into the run and {} old ones ended by themselves: a reload, or workers that are replaced in turn", "{}(pid {})启动了 {} 个新的工作进程（运行的第 {} 秒）,{} 个旧的自行结束：重新加载配置，或工作进程轮换"],
  ["from {} s on process {} answers at {}, a new start of {} (pid {}): the figures are of both", "从第 {} 秒起由进程 {} 在 {} 上应答，它是 {}(pid {})重新启动的：数据来自两者"],
  ["from {} s on a worker of {} (pid {}) is another program, {}: the figures are of two programs", "从第 {} 秒起，{}（pid {}）的一个工作进程变成了另一个程序 {}：数据来自两个程序"],
  ["from {} s on another program answers, {} at {}, in place of {}: the figures are of two programs", "从第 {} 秒起由另一个程序应答：{}，地址 {}，取代了 {}：数据来自两个程序"],
  ["from {} s on another process listens, {} at {}, beside {}: the answers are of both", "从第 {} 秒起另有进程监听：{}，地址 {}，与 {} 并存：回答来自两者"],
  ["from {} s on nobody listens at {} any more, though {} (pid {}) goes on", "从第 {} 秒起 {} 上不再有进程监听，而 {}(pid {})仍在运行"],
  ["something happened {} s into the run to {} (pid {}) that this version does not know", "运行的第 {} 秒，{}(pid {})发生了此版本不认识的变化"],
  ["{}. The run was ended there; a single run goes on with --ignore-exit", "{}。运行到此结束；单次运行可用 --ignore-exit 继续"],
];

/** The note in Chinese; as it is where the page does not know its sentence. */
export function inChinese(note: string): string {
  let best: { text: string; fixed: number } | undefined;
  for (const [english, chinese] of CHINESE) {
    const values = taken(note, english.split("{}"));
    // Of two sentences that fit, the one that says more by itself is meant.
    if (!values || (best && english.length <= best.fixed)) continue;
    const parts = chinese.split("{}");
    best = { text: parts.map((part, n) => part + (values[n] ?? "")).join(""), fixed: english.length };
  }
  return best?.text ?? note;
}

/** What stands between the parts of a sentence; nothing where the note is no such sentence. */
function taken(note: string, parts: string[]): string[] | undefined {
  const [first = "", ...rest] = parts;
  if (!note.startsWith(first)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const [n, part] of rest.entries()) {
    const isLast = n === rest.length - 1;
    const next = isLast ? note.length - part.length : note.indexOf(part, at);
    if (next < at || !note.startsWith(part, next)) return undefined;
    values.push(note.slice(at, next));
    at = next + part.length;
  }
  return at === note.length ? values : undefined;
}
