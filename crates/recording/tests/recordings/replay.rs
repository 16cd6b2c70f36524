//! The choice of what of a recording is sent again, and when.

use crate::support::{import, open};
use plan::draw::hash;
use recording::import::{Options, UserBy};
use recording::private::Keep;
use recording::replay::{Choice, ChooseError, Chosen, Gaps, MOST, Made, Renew, Why, choose};
use std::collections::BTreeMap;

const FORMAT: &str = "json:time=t,method=m,host=h,path=p,status=s,bytes=b,user=u,range=r,cache_control=cc";

/// So many requests of so many users, one each 10 ms.
fn lines(requests: u64, users: u64) -> String {
    let line = |number: u64| {
        let t = 1_795_746_709_000 + number * 10;
        let user = hash(7, number) % users;
        format!(
            "{{\"t\":{t},\"m\":\"GET\",\"h\":\"h\",\"p\":\"/u{user}/{number}\",\"s\":200,\"b\":{},\"u\":\"user{user}\"}}\n",
            100 + user
        )
    };
    (0..requests).map(line).collect()
}

fn chosen(log: &str, choice: &Choice) -> Chosen {
    let keep = Keep { path: true, query: true, ..Keep::default() };
    let options = Options { user_by: UserBy::Field("field".to_owned()), keep, ..Options::default() };
    let finished = import(options, &[("a.log", FORMAT, log.as_bytes())]).unwrap();
    choose(&mut open(&finished.to), choice).unwrap()
}

/// Moments of each user's requests, in order of number.
fn by_path(chosen: &Chosen) -> BTreeMap<String, Vec<u64>> {
    let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (listed, at) in chosen.requests.iter().zip(&chosen.at_us) {
        found.entry(listed.url.to_owned()).or_default().push(*at);
    }
    found
}

#[test]
fn all_of_it_at_its_moments() {
    let chosen = chosen(&lines(500, 20), &Choice::default());
    assert_eq!((chosen.requests.len(), chosen.left_out.len()), (500, 0));
    let due: Vec<u64> = (0..500).map(|number| number * 10_000).collect();
    assert_eq!(chosen.at_us, due);
    assert!(
        chosen
            .requests
            .iter()
            .enumerate()
            .all(|(number, listed)| listed.url.ends_with(&format!("/{number}")))
    );
    assert_eq!(chosen.requests.kinds().len(), 1, "they differ in their URLs alone");
}

#[test]
fn time_runs_faster_and_a_part_is_cut_out() {
    let choice = Choice { speed: 4.0, from_us: 1_000_000, to_us: Some(4_000_000), ..Choice::default() };
    let chosen = chosen(&lines(500, 20), &choice);
    assert_eq!(
        (chosen.at_us.first(), chosen.at_us.last(), chosen.at_us.len()),
        (Some(&0), Some(&747_500), 300)
    );
    assert_eq!(chosen.left_out[&Why::Outside], 200);
    let most = Choice { most: Some(7), ends_us: Some(50_000), ..Choice::default() };
    let short = self::chosen(&lines(500, 20), &most);
    assert_eq!((short.at_us.len(), short.left_out[&Why::Outside]), (5, 495));
}

#[test]
fn passes_follow_one_another_as_long_as_each_takes() {
    // 300 requests 10 ms apart: the next pass begins a gap after the last one.
    let choice = Choice { passes: 3, speed: 2.0, ..Choice::default() };
    let whole = chosen(&lines(300, 20), &choice);
    let due: Vec<u64> = (0..900).map(|number| number * 5_000).collect();
    assert_eq!(whole.at_us, due);
    assert!(
        whole
            .requests
            .iter()
            .enumerate()
            .all(|(number, one)| one.url.ends_with(&format!("/{}", number % 300)))
    );
    // Everything fits, so an LRU misses each object once; without the loop nothing is a hit.
    assert_eq!((whole.seen.requests, whole.seen.lru[0].hits), (900, 600));
    let part = Choice { passes: 2, from_us: 1_000_000, to_us: Some(2_000_000), ..Choice::default() };
    let part = chosen(&lines(300, 20), &part);
    assert_eq!((part.at_us.len(), part.at_us[100], part.left_out[&Why::Outside]), (200, 1_000_000, 400));
}

/// Of each user the requests follow one another, and a pause is what was left of the gap once the answer had come.
#[test]
fn users_who_wait_for_answers_keep_their_pauses() {
    let line = |ms: u64, user: &str, path: &str, took: u64| {
        let t = 1_795_746_709_000 + ms;
        format!("{{\"t\":{t},\"p\":\"/{path}\",\"s\":200,\"b\":9,\"u\":\"{user}\",\"d\":{took}}}\n")
    };
    let log = line(0, "ann", "a1", 30)
        + &line(10, "bob", "b1", 5)
        + &line(20, "ann", "a2", 25)
        + &line(100, "ann", "a3", 1)
        + &line(110, "bob", "b2", 5);
    let keep = Keep { path: true, query: true, ..Keep::default() };
    let options = Options { user_by: UserBy::Field("field".to_owned()), keep, ..Options::default() };
    let format = "json:time=t,path=p,status=s,bytes=b,user=u,duration_ms=d";
    let finished = import(options, &[("a.log", format, log.as_bytes())]).unwrap();
    let choice = Choice { gaps: Gaps::Think, speed: 2.0, ..Choice::default() };
    let chosen = choose(&mut open(&finished.to), &choice).unwrap();
    let paths: Vec<&str> = chosen.requests.iter().map(|one| &one.url[one.url.len() - 2..]).collect();
    assert_eq!(paths, ["a1", "a2", "a3", "b1", "b2"]);
    let found = chosen.thinking.unwrap();
    // Times are those of ends. a2 began 25 ms after a1, while that was under way, and ended after 50 ms; a3 began after 129 ms, and all is
    // twice as fast.
    assert_eq!(found.pauses_us, [vec![0, 0, 39_500], vec![17_500, 47_500]]);
    assert_eq!((found.overlapping, found.untimed), (1, 0));
}

#[test]
fn what_warms_up_is_set_apart_and_fills_the_yardstick() {
    let choice = Choice { passes: 2, warm_us: 3_000_000, ..Choice::default() };
    let chosen = chosen(&lines(300, 20), &choice);
    let halves = [&chosen.warm.at_us, &chosen.at_us];
    assert!(halves.iter().all(|at_us| at_us.len() == 300 && at_us[299] == 2_990_000 && at_us[0] == 0));
    assert_eq!((chosen.warm.count, chosen.seen.requests, chosen.seen.lru[0].hits), (300, 300, 300));
    let paths = |list: &plan::RequestList| list.iter().map(|one| one.url.to_owned()).collect::<Vec<_>>();
    assert_eq!(paths(&chosen.warm.requests), paths(&chosen.requests));
    let none = Choice { warm_us: 1, ..Choice::default() };
    let none = self::chosen(&lines(300, 20), &none);
    assert_eq!((none.warm.count, none.at_us.len(), none.at_us[0]), (1, 299, 9_999));
}

/// Each copy of a user is the user, moved as a whole; of half a copy half of the users have one.
#[test]
fn more_users_keep_the_gaps_of_each() {
    let choice = Choice { multiply: 2.5, shift_us: 3_000_000, ..Choice::default() };
    let one = by_path(&chosen(&lines(2_000, 400), &Choice::default()));
    let chosen = chosen(&lines(2_000, 400), &choice);
    assert!((4_700..5_300).contains(&chosen.requests.len()), "{}", chosen.requests.len());
    assert!(chosen.at_us.is_sorted());
    let mut moved: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (url, moments) in by_path(&chosen) {
        assert!((2..=3).contains(&moments.len()), "{url}");
        let own = one[&url][0];
        let mut by: Vec<u64> = moments.iter().map(|at| at - own).collect();
        by.sort_unstable();
        assert!(by[0] == 0 && by.iter().all(|by| *by <= 3_000_000), "{url}: {by:?}");
        let user = url.split('/').nth(3).unwrap().to_owned();
        // All requests of a user are moved alike, so its gaps stay; what is written in parts of a microsecond is cut.
        assert_eq!(moved.entry(user).or_insert_with(|| by.clone()), &by, "{url}");
    }
}

#[test]
fn samples_take_users_and_objects_as_wholes() {
    let half = Choice { users: 0.5, ..Choice::default() };
    let all = chosen(&lines(2_000, 100), &half);
    let user = |url: &str| url.split('/').nth(3).unwrap().to_owned();
    let kept: std::collections::BTreeSet<String> =
        all.requests.iter().map(|listed| user(listed.url)).collect();
    let whole = chosen(&lines(2_000, 100), &Choice::default());
    let due = whole.requests.iter().filter(|listed| kept.contains(&user(listed.url))).count();
    assert_eq!(all.requests.len(), due, "no user is cut in half");
    assert!((30..70).contains(&kept.len()), "{}", kept.len());
    assert_eq!(all.left_out[&Why::Sample], 2_000 - due as u64);
}

#[test]
fn requests_carry_what_was_recorded_and_odd_targets_stand_as_they_were() {
    let log = "{\"t\":1795746709000,\"m\":\"GET\",\"h\":\"h\",\"p\":\"/a{b}\",\"s\":200,\"b\":5,\"u\":\"u\"}\n\
        {\"t\":1795746709001,\"m\":\"GET\",\"h\":\"h\",\"p\":\"/v\",\"s\":206,\"b\":5,\"u\":\"u\",\"r\":\"bytes=5-9\"}\n\
        {\"t\":1795746709002,\"m\":\"GET\",\"h\":\"h\",\"p\":\"/e\",\"s\":503,\"b\":5,\"u\":\"u\"}\n\
        {\"t\":1795746709003,\"m\":\"PUT\",\"h\":\"h\",\"p\":\"/p\",\"s\":200,\"b\":5,\"u\":\"u\"}\n";
    let chosen = chosen(log, &Choice::default());
    let all = chosen.requests.to_vec();
    assert_eq!(all[0].target.as_deref(), Some("/a{b}"));
    assert_eq!(all[1].fields[0].shown(), "Range: bytes=5-9");
    assert_eq!(all[2].statuses, [plan::Status::Class(2), plan::Status::Class(3), plan::Status::Is(503)]);
    assert_eq!((all.len(), chosen.left_out[&Why::Method]), (3, 1));
    assert_eq!((chosen.seen.requests, chosen.seen.statuses[&206]), (3, 1));
}

/// Laws of the made object with this number among the requests.
fn law(chosen: &Chosen, number: u64) -> plan::site::ObjectClass {
    let (line, _) = chosen.asked.get(number).unwrap();
    chosen.origin.as_ref().unwrap().classes[(line.object >> 56) as usize]
}

#[test]
fn an_origin_is_built_of_sizes_lifetimes_and_changes() {
    let line = |ms: u64, method: &str, path: &str, status: u16, bytes: u64, more: &str| {
        let t = 1_795_746_709_000 + ms;
        format!(
            "{{\"t\":{t},\"m\":\"{method}\",\"h\":\"h\",\"p\":\"{path}\",\"s\":{status},\"b\":{bytes},\"u\":\"a\"{more}}}\n"
        )
    };
    let log = line(0, "GET", "/a", 200, 5_000, ",\"cc\":\"max-age=60\"")
        + &line(1_000, "GET", "/a", 206, 100, ",\"cc\":\"max-age=60\",\"r\":\"bytes=10-109\"")
        + &line(2_000, "HEAD", "/b", 200, 0, ",\"cc\":\"no-store\"")
        + &line(3_000, "GET", "/b", 200, 7, ",\"cc\":\"no-store\"")
        + &line(4_000, "GET", "/a", 304, 0, ",\"cc\":\"max-age=60\"")
        + &line(5_000, "GET", "/gone", 404, 9, "")
        + &line(6_000, "POST", "/a", 200, 9, "")
        + &line(7_000, "GET", "/v", 200, 10, "")
        + &line(15_000, "GET", "/v", 200, 20, "")
        + &line(20_000, "GET", "/b", 500, 1, ",\"cc\":\"no-store\"");
    let choice = Choice { made: Some(Made::default()), speed: 2.0, ..Choice::default() };
    let chosen = chosen(&log, &choice);
    assert_eq!((chosen.asked.count(), chosen.requests.len()), (9, 0));
    assert_eq!(chosen.left_out, BTreeMap::from([(Why::Method, 1)]));
    let asked: Vec<_> = (0..9).map(|number| chosen.asked.get(number).unwrap()).collect();
    let sizes: Vec<u64> = asked.iter().map(|(line, _)| line.size).collect();
    assert_eq!(sizes[..5], [5_000, 5_000, 7, 7, 5_000], "of the whole object, whoever had a part");
    assert_eq!(sizes[6..8], [20, 20], "the last one");
    assert_eq!(asked[1].1.range, Some([10, 100]));
    let is: Vec<_> = asked.iter().map(|(_, kind)| (kind.head, kind.validates)).collect();
    assert_eq!(is[2..5], [(true, false), (false, false), (false, true)]);
    let minute = Some(std::time::Duration::from_secs(60));
    assert_eq!((law(&chosen, 0).lifetime, law(&chosen, 5).lifetime), (minute, None));
    assert_eq!(law(&chosen, 2).storage, plan::site::Storage::NoStore);
    assert_eq!([0, 5].map(|number| law(&chosen, number).missing), [false, true]);
    // One change in 20 s that take 10 s, rounded to a power of two.
    assert_eq!(law(&chosen, 6).change_every, Some(std::time::Duration::from_secs(8)));
    let origin = chosen.origin.unwrap();
    assert_eq!((origin.statuses, origin.sizes, origin.parts, origin.rounded), (1, 2, 0, 0));
}

#[test]
fn what_is_asked_for_once_is_new_in_each_pass_and_lifetimes_follow_the_clock_where_they_are_to() {
    let line = |number: u64, path: &str| {
        format!(
            "{{\"t\":{},\"m\":\"GET\",\"h\":\"h\",\"p\":\"{path}\",\"s\":200,\"b\":9,\"cc\":\"max-age=60\"}}\n",
            1_795_746_709_000 + number * 10
        )
    };
    let log = line(0, "/often") + &line(1, "/often") + &line(2, "/once");
    let objects = |renew| {
        let made = Made { renew, scale_lifetimes: true };
        let options = Options::default();
        let finished = import(options, &[("a.log", FORMAT, log.as_bytes())]).unwrap();
        let choice = Choice { made: Some(made), passes: 2, speed: 3.0, ..Choice::default() };
        let chosen = choose(&mut open(&finished.to), &choice).unwrap();
        assert_eq!(law(&chosen, 0).lifetime, Some(std::time::Duration::from_secs(20)));
        (chosen.asked.objects(), chosen.seen.lru[0].hits)
    };
    assert_eq!(objects(Renew::OneTimers), (3, 3));
    assert_eq!(objects(Renew::All), (4, 2));
    assert_eq!(objects(Renew::None), (2, 4));
}

#[test]
fn an_origin_needs_no_urls_but_patterns_do() {
    let finished = {
        let options = Options { urls: false, ..Options::default() };
        import(options, &[("a.log", FORMAT, lines(50, 5).as_bytes())]).unwrap()
    };
    let made = Choice { made: Some(Made::default()), ..Choice::default() };
    assert_eq!(choose(&mut open(&finished.to), &made).unwrap().asked.count(), 50);
    let only = Choice { only: Some(recording::replay::pattern("u1").unwrap()), ..made };
    assert!(matches!(choose(&mut open(&finished.to), &only), Err(ChooseError::NoPatterns)));
    let chosen = chosen(&lines(50, 5), &only);
    assert_eq!(chosen.asked.count() + chosen.left_out[&Why::Pattern], 50);
    assert!(chosen.asked.count() > 0 && chosen.left_out[&Why::Pattern] > 0);
}

#[test]
fn what_memory_does_not_hold_is_refused_before_anything_is_sent() {
    let finished = import(
        Options { user_by: UserBy::Field("field".to_owned()), ..Options::default() },
        &[("a.log", FORMAT, lines(50, 5).as_bytes())],
    )
    .unwrap();
    let of = |room, passes| choose(&mut open(&finished.to), &Choice { room, passes, ..Choice::default() });
    assert_eq!(of(50, 1).unwrap().at_us.len(), 50);
    for (room, passes) in [(49, 1), (99, 2)] {
        let Err(why @ ChooseError::TooMany { .. }) = of(room, passes) else { panic!("{room} are enough") };
        let said =
            format!("more than {room} requests would be sent, for which no memory is left: choose fewer");
        assert!(why.to_string().starts_with(&said), "{why}");
    }
    // Where it is not memory, it is not said to be.
    let said = ChooseError::TooMany { room: MOST }.to_string();
    assert!(said.starts_with("more than 20000000 requests would be sent: choose fewer"), "{said}");
}
