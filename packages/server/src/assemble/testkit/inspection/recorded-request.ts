// One recorded request, and the bodies of the recorded requests.

import type { Exchange } from '../../../http/pipeline/exchange.js'
import { typeOf } from '../object-ref.js'

const maxBodyBytes = 8 << 20

/** Bodies of recorded requests; beyond the limit the oldest are dropped. */
export class BodyStore {
  isKeeping = false
  readonly #bodies = new Map<RecordedRequest, Buffer>()
  #bytes = 0

  add(request: RecordedRequest, body: Buffer): void {
    // A copy: the body may be a part of a larger buffer of the connection.
    this.#bodies.set(request, Buffer.from(body))
    this.#bytes += body.length
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= maxBodyBytes) return
      this.delete(oldest)
    }
  }

  delete(request: RecordedRequest): void {
    this.#bytes -= this.#bodies.get(request)?.length ?? 0
    this.#bodies.delete(request)
  }

  get(request: RecordedRequest): Buffer | undefined {
    return this.#bodies.get(request)
  }

  clear(): void {
    this.#bodies.clear()
    this.#bytes = 0
  }
}

export class RecordedRequest {
  /** When the request arrived, by the server's clock. */
  readonly time: Date
  /** The impersonated user, if there is one. */
  user = ''
  readonly verb: string
  /** `RESOURCE[.GROUP]`, such as `pods` or `wares.shop.example.com`; empty for other paths, such as `/version`. */
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** Of a create: the name of the created object, or empty if it failed. */
  name: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** HTTP status; undefined while there is none, or if the connection ended before. */
  status: number | undefined = undefined
  /** 0 while the request is open. */
  durationMs = 0
  readonly userAgent: string
  /** True for a watch or another stream that has not ended. */
  isOpen = false
  readonly #bodies: BodyStore
  readonly #contentType: string
  readonly #isKept: boolean

  constructor(exchange: Exchange, bodies: BodyStore) {
    const { info } = exchange
    this.time = new Date(exchange.now)
    this.verb = info.verb
    this.resource = info.isResource ? typeOf({ name: info.resource, group: info.group }) : ''
    this.subresource = info.subresource
    this.namespace = info.namespace
    this.name = info.name
    this.path = info.path
    this.query = info.query
    this.userAgent = exchange.userAgent
    this.#bodies = bodies
    this.#contentType = exchange.header('content-type')
    this.#isKept = bodies.isKeeping
    if (this.#isKept) exchange.onBody = (body) => bodies.add(this, body)
  }

  /** JSON is parsed, Protobuf is a Buffer, other bodies are text. Undefined if there was none, or if it was dropped. Throws unless bodies were kept. */
  body(): unknown {
    if (!this.#isKept) throw new Error('requests: call requests.keepBodies() before the requests whose bodies you need')
    const body = this.#bodies.get(this)
    if (body === undefined || body.length === 0) return undefined
    if (this.#contentType.includes('protobuf')) return body
    const text = body.toString()
    if (this.#contentType !== '' && !this.#contentType.includes('json')) return text
    try {
      return JSON.parse(text)
    } catch {
      // The server has responded with 400; the test may want to see why.
      return text
    }
  }

  start({ user, response, isLongRunning }: Exchange): void {
    this.user = user.name
    this.status = response.statusCode
    this.isOpen = isLongRunning
  }

  complete({ user, response, begunMs }: Exchange): void {
    this.user = user.name
    if (response.headersSent) this.status ??= response.statusCode
    this.isOpen = false
    this.durationMs = Math.round(performance.now() - begunMs)
  }

  /** One line, such as `10:00:00.000 alice create configmaps/shop/total 201 3 ms`. */
  toString(): string {
    // The path of a Namespace has its name as namespace, too.
    const namespace = this.resource === 'namespaces' ? '' : this.namespace
    const target = [this.resource, namespace, this.name].filter(Boolean).join('/')
    const shown = this.resource === '' ? this.path : `${target}${this.subresource && ` (${this.subresource})`}`
    const time = this.time.toISOString().slice(11, -1)
    return `${time} ${this.user || '?'} ${this.verb} ${shown} ${this.status ?? 'cut off'} ${this.isOpen ? 'open' : `${this.durationMs} ms`}`
  }
}
