# Makes the edited copy of a given plan, with its files, by the generator beside the golden data, and prints what goes with it.
# Arguments: folder of the golden data, plan, variant, port, folder to be made.
import json, os, shutil, sys

golden, nn, variant, port, work = sys.argv[1:6]
sys.path.insert(0, golden)
import plans, run

plan = plans.PLANS[nn]
of_variant = {"one_thread": {}, "three_threads": plan.get("t3", {})}.get(variant) or plan.get("variants", {}).get(variant, {})
threads = of_variant.get("threads", 3 if variant == "three_threads" else 1)
shutil.rmtree(work, ignore_errors=True)
folder = os.path.normpath(os.path.join(work, plan.get("subdir", ".")))
os.makedirs(folder)
for relative, content in {**plan.get("files", {}), **of_variant.get("files", {})}.items():
    to = os.path.normpath(os.path.join(folder, relative))
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if isinstance(content, tuple):
        shutil.copyfile(os.path.join(golden, "..", content[1]), to)
    else:
        with open(to, "w", newline="") as file:
            file.write(content.replace("27000", port))
source = [name for name in sorted(os.listdir(os.path.join(golden, ".."))) if name.startswith(nn + "-")][0]
edited = run.Plan(os.path.join(golden, "..", source))
if plan.get("edit"):
    plan["edit"](edited, int(port), threads)
run.common(edited, plan, threads)
if of_variant.get("edit"):
    of_variant["edit"](edited, int(port), threads)
edited.write(os.path.join(folder, "plan.jmx"))
masks = ([(run.UUID, "<varies>")] if plan.get("mask_uuid") else []) + plan.get("masks", [])
if threads > 1:
    masks += plan.get("multi_masks", [])
print(json.dumps({
    "folder": folder,
    "rules": of_variant.get("rules", plan.get("rules", [])),
    "flags": plan.get("flags", []) + of_variant.get("flags", []),
    "masks": masks,
}))
