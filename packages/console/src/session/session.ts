// A session: the client with the token of this tab, the kinds that the server serves, and the user's name. Nothing is stored.

import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import {
  Client,
  type Discovered,
  type DynamicObject,
  FetchTransport,
  type Informer,
  isClientError,
  type PartialObjectMetadata,
  type ServedResource,
} from '@cluster-apiserver/client/browser.js'
import { RecordedRequests, RecordingTransport } from './recorded-requests.js'

const requestTimeoutMs = 60_000
const pollMs = 15_000
const settleMs = 400

export class Session {
  readonly client: Client
  readonly requests: RecordedRequests
  readonly user: string
  private discovered: Discovered
  private readonly controller = new AbortController()
  private readonly listeners = new Set<() => void>()
  private isExpired = false
  private namespaceInformer: Informer<PartialObjectMetadata> | undefined

  /** Rejects with a StatusError if the server does not accept the token. */
  static async open(token: string, onExpired: () => void): Promise<Session> {
    let session: Session | undefined
    const requests = new RecordedRequests()
    const transport = new RecordingTransport(new FetchTransport({ credentials: 'omit' }), requests, () => session?.expire(onExpired))
    const credential = { authorization: `Bearer ${token}` }
    const client = new Client({ transport, credentials: { current: async () => credential }, timeoutMs: requestTimeoutMs, retries: 2 })
    const discovered = await client.served.all()
    session = new Session(client, { requests, discovered, user: await userOf(client, discovered, token) })
    void session.follow()
    return session
  }

  private constructor(
    client: Client,
    parts: { readonly requests: RecordedRequests; readonly discovered: Discovered; readonly user: string },
  ) {
    this.client = client
    this.requests = parts.requests
    this.discovered = parts.discovered
    this.user = parts.user
  }

  get resources(): readonly ServedResource[] {
    return this.discovered.resources
  }

  /** Kinds whose objects can be listed, in the preferred version of their group. */
  get listable(): readonly ServedResource[] {
    const preferred = new Set(this.resources.filter(({ isPreferred }) => isPreferred).map(({ group, resource }) => `${group}/${resource}`))
    return this.resources.filter(
      ({ verbs, isPreferred, resource, group }) => verbs.includes('list') && (isPreferred || !preferred.has(`${group}/${resource}`)),
    )
  }

  /** False for two tokens whose users have no name. */
  hasSameUser(other: Session): boolean {
    return other === this || (this.user !== '' && other.user === this.user)
  }

  /** Called when kinds appear or disappear. Returns the function that unsubscribes. */
  onKinds(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  async refreshKinds(): Promise<void> {
    const before = kindsOf(this.discovered)
    this.discovered = await this.client.served.all({ refresh: true })
    if (kindsOf(this.discovered) !== before) for (const listener of this.listeners) listener()
  }

  /** Names of the namespaces, kept up to date after the first call; empty if the user may not list them. */
  async namespaces(): Promise<readonly string[]> {
    const resource = this.resources.find((each) => each.resource === 'namespaces' && each.group === '')
    if (this.namespaceInformer === undefined && resource !== undefined) {
      this.namespaceInformer = this.client.collection(resource).metadata.inform({ signal: this.controller.signal })
      this.namespaceInformer.ended.catch(() => undefined)
    }
    await this.namespaceInformer?.ready.catch(() => undefined)
    return sortTexts((this.namespaceInformer?.list() ?? []).map(({ metadata }) => metadata?.name ?? ''))
  }

  close(): void {
    this.controller.abort()
    this.client.close()
  }

  private expire(onExpired: () => void): void {
    if (this.isExpired || this.controller.signal.aborted) return
    this.isExpired = true
    onExpired()
  }

  /** Refreshes the kinds when a CRD changes; polls if the user may not watch CRDs. */
  private async follow(): Promise<void> {
    const { signal } = this.controller
    const definitions = this.resources.find(({ resource }) => resource === 'customresourcedefinitions')
    try {
      if (definitions !== undefined) {
        let timer: ReturnType<typeof setTimeout> | undefined
        const refresh = (): void => {
          if (!signal.aborted) void this.refreshKinds().catch(() => undefined)
        }
        for await (const _ of this.client.collection(definitions).metadata.watch({ signal })) {
          clearTimeout(timer)
          timer = setTimeout(refresh, settleMs)
        }
      }
    } catch {
      // The user may not watch CRDs.
    }
    while (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      if (!signal.aborted && !this.isExpired && document.visibilityState === 'visible') await this.refreshKinds().catch(() => undefined)
    }
  }
}

const kindsOf = ({ resources }: Discovered): string =>
  resources.map(({ group, version, resource, kind }) => `${group}/${version}/${resource}/${kind}`).join(' ')

/** The user's name by SelfSubjectReview, which few servers of this release serve, or from the claims of the token. */
async function userOf(client: Client, { resources }: Discovered, token: string): Promise<string> {
  const served = resources.find(({ resource }) => resource === 'selfsubjectreviews')
  if (served !== undefined) {
    try {
      const review = await client
        .collection<DynamicObject>(served)
        .create({ apiVersion: `${served.group}/${served.version}`, kind: served.kind })
      const { userInfo } = review['status'] as { readonly userInfo?: { readonly username?: string } }
      if (userInfo?.username !== undefined) return userInfo.username
    } catch (thrown) {
      if (!isClientError(thrown)) throw thrown
    }
  }
  return subjectOf(token) ?? ''
}

/** The claim `sub` of a JWT: only shown, never trusted. */
function subjectOf(token: string): string | undefined {
  const [, payload] = token.split('.')
  if (payload === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    const subject = (claims as { readonly sub?: unknown } | null)?.sub
    return typeof subject === 'string' ? subject : undefined
  } catch {
    return undefined
  }
}
