// Placeholder.
export function BisectView() {
  return <p class="empty">Not here yet.</p>;
}
