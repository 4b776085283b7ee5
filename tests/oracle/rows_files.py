"""What is done to the files of a repository: texts that are no configuration, folders, versions, labels."""

from oracle.mutations import Mutation, fine, wrong

FILES = [
    fine("as it is", {}),
    wrong("no text of the format", "IS900", {"net": "max_batch_size: {"}),
    wrong("an unknown field", "IS900", {"net": "max_batchsize: 8"}),
    wrong("a word for a number", "IS900", {"net": ("max_batch_size: 8", "max_batch_size: eight")}),
    wrong("an unknown data type", "IS900", {"net": ("TYPE_FP32", "TYPE_FLOAT")}),
    wrong("two ways of scheduling", "IS900", {"net": "dynamic_batching {} sequence_batching {}"}),
    wrong("a field twice", "IS900", {"net": "max_batch_size: 4"}),
    wrong("a byte order mark", "IS900", {"net": ("name: ", "\ufeffname: ")}),
    fine(
        "comments and other signs, in lines that end as in Windows",
        {"net": ["# said\nversion_policy: < latest: { num_versions: 1, } >;", ("\n", "\r\n")]},
    ),
    wrong("the name of another folder", "IS904", {"net": ('"@net"', '"other"')}),
    fine("no name", {"net": ('name: "@net"\n', "")}),
    wrong("no version", "IS907", {"@net/1/model.py": None}),
    wrong("a version with a letter", "IS907", {"@net/1/model.py": None, "@net/v1/model.py": "…"}),
    wrong("a version with a zero in front", "IS907", {"@net/1/model.py": None, "@net/01/model.py": "…"}),
    fine("a folder that is no version beside one", {"@net/v2/model.py": "…"}),
    Mutation(
        "an older copy that begins like a version",
        {"@net/2_backup/model.py": "…"},
        ("IS933",),
        "hangs",
        "Triton waits without end for version 2",
    ),
    Mutation(
        "only a version with a word behind it",
        {"@net/1/model.py": None, "@net/1.old/model.py": "…"},
        ("IS933",),
        "hangs",
        "Triton waits without end for version 1",
    ),
    Mutation(
        "a version below zero among all",
        {"net": "version_policy { all {} }", "@net/-1/model.py": "…"},
        ("IS933",),
        "hangs",
        "Triton waits without end for version -1",
    ),
    Mutation(
        "a number that no version can have",
        {"@net/9223372036854775808/model.py": "…"},
        ("IS933",),
        "hangs",
        "the server ends",
    ),
    fine("the last number that a version can have", {"@net/9223372036854775807/model.py": "…"}),
    fine("a copy beside the version that it is taken for", {"@net/1_old/model.py": "…"}),
    fine("a copy of a version that is not loaded", {"@net/2_backup/model.py": "…", "@net/3/model.py": "…"}),
    fine(
        "a copy that the policy does not load",
        {"@net/2_backup/model.py": "…", "net": "version_policy { specific { versions: 1 } }"},
    ),
    fine("a folder that begins like a version below zero", {"@net/-1/model.py": "…"}),
    fine("version zero", {"@net/1/model.py": None, "@net/0/model.py": "…"}),
    wrong("only a folder for warm-up", "IS907", {"@net/1/model.py": None, "@net/warmup/model.py": "…"}),
    wrong("none of the latest versions", "IS907", {"net": "version_policy { latest { num_versions: 0 } }"}),
    wrong("a version that is not there", "IS907", {"net": "version_policy { specific { versions: 2 } }"}),
    fine("one of two versions there", {"net": "version_policy { specific { versions: [ 1, 2 ] } }"}),
    fine("all of two versions", {"net": "version_policy { all {} }", "@net/3/model.py": "…"}),
    fine("a policy without a choice", {"net": "version_policy {}"}),
    fine("a model under another name", {"net": 'default_model_filename: "m.py"', "@net/1/m.py": "…"}),
    wrong(
        "labels that are not there", "IS913", {"net": ("dims: [ 2 ]", 'dims: [ 2 ] label_filename: "l.txt"')}
    ),
    fine("labels", {"net": ("dims: [ 2 ]", 'dims: [ 2 ] label_filename: "l.txt"'), "@net/l.txt": "a\nb\n"}),
    Mutation(
        "no code",
        {"@net/1/model.py": None, "@net/1/": ""},
        ("IS910",),
        "hangs",
        "Triton waits without end for a process that has ended",
    ),
]
