// Placeholder.
export function PushView() {
  return <p class="empty">Not here yet.</p>;
}
