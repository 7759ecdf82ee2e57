// The error of a port that cannot be opened, with a message for the operator.

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
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (error.code === 'EADDRINUSE') return `port ${port} of ${host} is in use by another process; choose another, or 0 for any free one`
  if (error.code === 'EACCES') return `not allowed to listen on ${address}`
  if (error.code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine`
  return `cannot listen on ${address}: ${error.message}`
}
