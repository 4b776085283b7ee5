"""Models from AWS Marketplace are recognized by their packages, and following the advice about them is enough."""

import pytest
import yaml
from support.resolving import merged
from support.wrong_specs import FOLDER

from inferstack.catalog.regions import MARKETPLACE_ACCOUNTS, is_region
from inferstack.check.load import parse_spec

PACKAGE = "arn:aws:sagemaker:us-east-1:865070037744:model-package/llama-1-0ab"
SOLD = {"models": {"llama": {"model_package_name": PACKAGE, "image": None, "model_data_source": None}}}
BASE = merged(yaml.safe_load((FOLDER / "bases" / "models.yaml").read_text("utf-8")), SOLD)


@pytest.mark.parametrize(("region", "account"), MARKETPLACE_ACCOUNTS.items())
def test_the_accounts_are_those_of_regions(region: str, account: str) -> None:
    assert is_region(region)
    assert account.isdigit()
    assert len(account) == 12


def test_what_components_run_is_isolated_where_it_is_advised() -> None:
    (warned,) = parse_spec(BASE).warnings
    assert warned.fix == "write `enable_network_isolation: true` in the model and in `endpoint_config`"
    isolated = {"enable_network_isolation": True}
    followed = merged(BASE, {"models": {"llama": isolated}, "endpoint_config": isolated})
    assert parse_spec(followed).warnings == ()
