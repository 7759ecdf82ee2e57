// Checks that a client can read a response: a Status that matches its code, or bytes of the declared content type.

export interface FuzzResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

const maxErrorBytes = 1 << 20
const plainTextErrorCodes = new Set([400, 401, 403, 404, 405, 406, 408, 413, 415, 429, 431])

/** The problem; undefined if there is none. `mayFail`: webhooks are involved, whose errors may become 500. */
export function problemOf(method: string, { status, headers, body }: FuzzResponse, mayFail: boolean): string | undefined {
  const type = String(headers['content-type'] ?? '')
  if (status === 500 && !mayFail) return `500 ${body.toString('utf8', 0, 300)}`
  if (status < 200 || status > 599) return `status ${status}`
  if (status >= 400 && body.length > maxErrorBytes) return `an error of ${body.length} bytes`
  if (method === 'HEAD' || status === 204 || status === 304) return body.length === 0 ? undefined : 'a body where none may be'
  if (headers['content-encoding'] !== undefined || status === 101) return undefined
  if (type.startsWith('application/json')) return jsonProblem(status, type, body)
  if (status < 400) return type === '' && body.length > 0 ? 'bytes without a type' : undefined
  if (type.startsWith('text/plain') || type === '')
    return plainTextErrorCodes.has(status) || status >= 501 ? undefined : `plain text for ${status}`
  if (type.includes('protobuf')) return body.subarray(0, 4).toString('latin1') === 'k8s\0' ? undefined : 'Protobuf without its magic bytes'
  if (type.includes('yaml')) return /^kind: Status$/m.test(body.toString()) ? undefined : 'YAML, but not a Status'
  return `an error in ${type}`
}

function jsonProblem(status: number, type: string, body: Buffer): string | undefined {
  if (type.includes('stream=watch') || type.includes(';as=')) return undefined
  let value: { readonly kind?: unknown; readonly code?: unknown; readonly status?: unknown; readonly message?: unknown }
  try {
    value = JSON.parse(body.toString())
  } catch {
    // A watch is a sequence of events.
    return status < 400 && (body.length === 0 || body.toString().startsWith('{"type":'))
      ? undefined
      : `no JSON: ${body.toString('utf8', 0, 100)}`
  }
  if (status < 400) return undefined
  if (value.kind !== 'Status' || value.status !== 'Failure') return `no Status: ${body.toString('utf8', 0, 200)}`
  if (value.code !== status) return `a Status of ${String(value.code)} in a response of ${status}`
  return typeof value.message === 'string' && value.message !== '' ? undefined : 'a Status without a message'
}
