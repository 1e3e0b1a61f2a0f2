// Placeholder.
export function WhatIfView() {
  return <p class="empty">Not here yet.</p>;
}
