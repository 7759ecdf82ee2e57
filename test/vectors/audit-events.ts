// Cases of audit.json, and the comparison of audit events with those of kube-apiserver.

import { differenceOf } from './compare.js'

export interface AuditRequest {
  readonly user: string
  readonly method: string
  readonly path: string
  readonly headers?: { readonly [name: string]: string | readonly string[] | null }
  readonly body?: unknown
  readonly bodyBase64?: string
}

export interface AuditedEvent {
  readonly stage: string
  readonly verb: string
  readonly requestURI: string
  readonly auditID: string
  readonly annotations?: { readonly [key: string]: string }
  readonly [field: string]: unknown
}

export interface AuditCase {
  readonly name: string
  readonly policy: unknown
  readonly flags?: readonly string[]
  readonly note?: string
  readonly setup?: readonly AuditRequest[]
  readonly webhooks?: { readonly [path: string]: WebhookReply }
  readonly requests?: readonly AuditRequest[]
  readonly events?: readonly AuditedEvent[]
  /** Error message of a server that must not start; null: it starts. */
  readonly startError?: string | null
}

export interface WebhookReply {
  readonly httpStatus?: number
  readonly delayMs?: number
  readonly response?: { readonly patch?: unknown; readonly [field: string]: unknown }
}

export function compareEvents(auditCase: AuditCase, written: readonly AuditedEvent[]): string | undefined {
  const expected = auditCase.events ?? []
  const actualEvents = withoutExtraPatchEvents(auditCase, written)
  const bindings = new Map<string, string>()
  for (const [i, event] of expected.entries()) {
    const actual = actualEvents[i]
    if (actual === undefined) return `event ${i} is missing: ${event.stage} ${event.verb} ${event.requestURI}`
    const difference = differenceOf(comparable(event), comparable(actual), bindings)
    if (difference !== undefined) return `event ${i} (${event.stage} ${event.verb} ${event.requestURI}): ${difference}`
  }
  const more = actualEvents[expected.length]
  return more === undefined ? undefined : `not expected: ${more.stage} ${more.verb} ${more.requestURI}`
}

/** Drops the event of a patch with invalid JSON, which kube-apiserver does not write. */
function withoutExtraPatchEvents({ requests = [], events = [] }: AuditCase, written: readonly AuditedEvent[]): readonly AuditedEvent[] {
  if (written.length <= events.length) return written
  const unloggedPaths = new Set(requests.filter(({ method, body }) => method === 'PATCH' && isInvalidJson(body)).map(({ path }) => path))
  return written.filter(({ stage, requestURI }) => !(stage === 'ResponseComplete' && unloggedPaths.has(requestURI)))
}

function isInvalidJson(body: unknown): boolean {
  if (typeof body !== 'string') return false
  try {
    JSON.parse(body)
    return false
  } catch {
    return true
  }
}

/** Both bindings grant discovery; kube-apiserver names either. */
const eitherBinding =
  /ClusterRoleBinding "system:(?:discovery|public-info-viewer)" of ClusterRole "system:(?:discovery|public-info-viewer)"/

/** Removes nondeterministic parts (latencies, addresses, order, one of two equal bindings) and maps internal versions to public ones. */
function comparable(event: AuditedEvent): unknown {
  const text = JSON.stringify(event)
    .replaceAll('meta.k8s.io/__internal', 'meta.k8s.io/v1')
    .replaceAll(/"serverAddress":"[^"]*"/g, '"serverAddress":"<address>"')
  const copy = JSON.parse(text) as {
    annotations?: Record<string, string>
    responseObject?: { kind?: string; items?: { metadata: { name: string } }[] }
  }
  const { annotations, responseObject } = copy
  for (const key of Object.keys(annotations ?? {})) {
    if (annotations === undefined) break
    if (key.startsWith('apiserver.latency.')) delete annotations[key]
    else if (key.endsWith('/reason')) annotations[key] = (annotations[key] ?? '').replace(eitherBinding, 'a public binding')
  }
  if (responseObject?.kind === 'ComponentStatusList') responseObject.items?.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  return copy
}
