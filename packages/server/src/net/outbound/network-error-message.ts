// Messages for network and TLS errors, as kube-apiserver (Go) writes them.

interface NetworkError extends Error {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly host?: string
  readonly cert?: { readonly subjectaltname?: string }
}

const connectErrors: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
}

const unknownAuthority = 'x509: certificate signed by unknown authority'

const certificateErrors: { readonly [code: string]: string } = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
}

export function networkErrorMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  // One error for each address that was tried.
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return networkErrorMessage(thrown.errors.at(-1))
  const { code = '', address = '', port = 0, hostname = '', message } = thrown as NetworkError
  const connectError = connectErrors[code]
  if (connectError !== undefined) return address === '' ? connectError : `dial tcp ${withPort(address, port)}: ${connectError}`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: server misbehaving`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return certificateNameError(thrown)
  if (code === 'ECONNRESET') return message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
  if (code === 'EPIPE') return 'write: broken pipe'
  return certificateErrors[code] ?? (isPlaintextError(code) ? 'tls: first record does not look like a TLS handshake' : message)
}

/** True if the server does not speak TLS. */
const isPlaintextError = (code: string): boolean => code === 'EPROTO' || code.startsWith('ERR_SSL_')

const withPort = (address: string, port: number): string => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`)

function certificateNameError({ cert, host = '' }: NetworkError): string {
  const names = (cert?.subjectaltname ?? '').split(', ').map((name) => name.replace(/^[^:]*:/, ''))
  return names.join('') === ''
    ? `x509: certificate is not valid for any names, but wanted to match ${host}`
    : `x509: certificate is valid for ${names.join(', ')}, not ${host}`
}
