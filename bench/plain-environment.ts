// Environment for programs whose start time is measured.

/** Without NODE_EXTRA_CA_CERTS: reading them takes longer than an empty program. */
export function plainEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  return { ...rest, ...more }
}
