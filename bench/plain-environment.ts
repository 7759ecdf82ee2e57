// The environment for programs whose start is measured.

/** Without certificates that the machine gives to every program of Node: to read them takes longer than an empty program does otherwise. */
export function plainEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  return { ...rest, ...more }
}
