// Placeholder.
export function ObjectView() {
  return <p class="empty">Not here yet.</p>;
}
