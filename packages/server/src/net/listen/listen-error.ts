// The port could not be opened: why, as one sentence for the operator.

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export class ListenError extends Error {
  override readonly name = 'ListenError'
  constructor(cause: NodeJS.ErrnoException, endpoint: Endpoint) {
    super(explain(cause, endpoint), { cause })
  }
}

function explain(error: NodeJS.ErrnoException, { host, port }: Endpoint): string {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (error.code === 'EADDRINUSE') return `port ${port} of ${host} is in use by another process; choose another, or 0 for any free one`
  if (error.code === 'EACCES') return `not allowed to listen on ${where}`
  if (error.code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine`
  return `cannot listen on ${where}: ${error.message}`
}
