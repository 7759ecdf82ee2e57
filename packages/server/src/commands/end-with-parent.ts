// Notices the end of the parent process: Node.js has no signal for it, but the id of the parent changes. A parent that ends while
// Node.js starts is noticed only if it gave its id in CLUSTER_PARENT_PID.

const pollMs = 200

/** Calls `end` once, when the parent of this process has ended. The returned function stops polling. */
export function onParentEnd(end: () => void, parentId: () => number = () => process.ppid): () => void {
  const parent = parentId()
  const named = Number(process.env['CLUSTER_PARENT_PID'] ?? '')
  const timer = setInterval(() => {
    if (parentId() === parent && (named <= 0 || Number.isNaN(named) || isRunning(named))) return
    clearInterval(timer)
    end()
  }, pollMs).unref()
  return () => clearInterval(timer)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    // EPERM: it runs as another user.
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
