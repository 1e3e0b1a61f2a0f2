// Placeholder.
export function MeshView() {
  return <p class="empty">Not here yet.</p>;
}
