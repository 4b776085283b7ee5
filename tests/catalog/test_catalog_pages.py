from inferstack.catalog import images, metrics
from tools import catalog_pages


def test_every_metric_and_every_framework_is_listed() -> None:
    page = catalog_pages.metrics_page()
    assert all(f"| `{name}` |" in page for name in metrics.names())
    assert all(f"| `{one.name}` |" in page for one in metrics.PREDEFINED_SCALING_METRICS)
    assert all(f"| `{name}` |" in catalog_pages.images_page() for name in images.frameworks())
