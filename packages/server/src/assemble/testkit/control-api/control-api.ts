// The HTTP control API of the test kit, under /testkit/ on the port of the server. It precedes the request pipeline, so that its requests
// are in no log, metric or audit event, and no fault affects them.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { CleanupStack } from '@cluster-apiserver/api/base/async/cleanup-stack.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { HttpRequest, HttpResponse, RequestListener } from '../../../net/listen/http-messages.js'
import { ControlError } from './control-error.js'
import { findRoute } from './find-route.js'
import { readJson } from './read-json.js'
import type { ControlSession, Route } from './route.js'

const prefix = '/testkit'
const controlUrl = /^\/testkit(?:[/?]|$)/

interface ControlApiParts {
  readonly token: string
  readonly routes: readonly Route[]
  readonly logger: Logger
}

export class ControlApi {
  readonly token: string
  readonly #digest: Buffer
  readonly #routes: readonly Route[]
  readonly #logger: Logger
  #session: ControlSession | undefined

  constructor({ token, routes, logger }: ControlApiParts) {
    this.token = token
    this.#digest = digestOf(token)
    this.#routes = routes
    this.#logger = logger
  }

  /** Requests before this call, while the server starts, get 503. */
  open(server: Pick<ControlSession, 'server' | 'testkit'>): void {
    this.#session = { ...server, snapshots: new Map(), forks: new Map(), isClosed: false }
  }

  async #closeForks(): Promise<void> {
    if (this.#session === undefined) return
    this.#session.isClosed = true
    await Promise.all(Array.from(this.#session.forks.values(), (fork) => fork.close({ immediately: true })))
  }

  /** Serves control requests, and leaves all others to `next`. The forks that clients start end with the server. */
  attach(next: RequestListener, cleanup: CleanupStack): RequestListener {
    cleanup.add(() => this.#closeForks())
    return (request, response) => {
      if (controlUrl.test(request.url ?? '')) void this.#serve(request, response)
      else next(request, response)
    }
  }

  async #serve(request: HttpRequest, response: HttpResponse): Promise<void> {
    // Without a listener an 'error' event would end the process.
    response.on('error', ignore)
    try {
      this.#authenticate(request)
      send(response, 200, (await this.#run(request)) ?? {})
    } catch (thrown) {
      this.#sendError(response, thrown)
    }
  }

  /** The digests have one length, as timingSafeEqual requires. */
  #authenticate({ headers: { authorization = '' } }: HttpRequest): void {
    const token = /^bearer /i.test(authorization) ? authorization.slice('bearer '.length).trim() : ''
    if (!timingSafeEqual(digestOf(token), this.#digest)) throw new ControlError(401, 'the token of the test kit is required')
  }

  async #run(request: HttpRequest): Promise<unknown> {
    const [path = '', ...query] = (request.url ?? '').slice(prefix.length).split('?')
    const { route, params } = findRoute(this.#routes, request.method ?? '', path === '' ? '/' : path)
    const body = await readJson(request)
    if (this.#session === undefined) throw new ControlError(503, 'the server is starting')
    return route.run(this.#session, { params, query: new URLSearchParams(query.join('?')), body })
  }

  #sendError(response: HttpResponse, thrown: unknown): void {
    if (!(thrown instanceof ControlError)) {
      this.#logger.error({ error: thrown }, 'internal error of the test kit')
      send(response, 500, { error: `internal error: ${errorMessage(thrown)}` })
      return
    }
    const { status, message, allow } = thrown
    if (allow !== undefined) response.setHeader('Allow', allow.join(', '))
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="testkit"')
    send(response, status, { error: message })
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

const ignore = (): void => undefined

function send(response: HttpResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return
  const body = Buffer.from(`${JSON.stringify(value)}\n`)
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Content-Length', body.length)
  response.setHeader('Cache-Control', 'no-store')
  response.end(body)
}
