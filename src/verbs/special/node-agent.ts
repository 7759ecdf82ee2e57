// The agent on a node, by what the node says of itself: at which of its addresses, and on which port.

import { ApiError, notFound } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { leanObject } from '../../objects/lean-object.js'
import type { Location, Way } from './signatures.js'

interface Node extends ApiObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[]
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } }
  }
}

export const usualAddressTypes: readonly string[] = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const usualPort = 10250

/** An object of the core group, without what anybody may hang on it; throws where there is none. */
export function findObject<T extends ApiObject>({ engine, catalog, call }: Way, resourceName: string, name: string): T {
  const resource = catalog.find('', 'v1', resourceName)
  if (resource === undefined) throw new Error(`there are no ${resourceName}`)
  const address = { resource, namespace: resource.namespaced ? call.namespace : '', name }
  const stored = engine.store.read(address)
  if (stored === undefined) throw notFound(resource.subject, name)
  return leanObject(stored, resource) as T
}

export function agentOf(way: Way, name: string): Pick<Location, 'scheme' | 'host'> & { readonly port: string } {
  const { status } = findObject<Node>(way, 'nodes', name)
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  return { scheme: 'https', host: addressOf(way, status?.addresses ?? []), port: String(port > 0 ? port : usualPort) }
}

function addressOf({ engine }: Way, addresses: readonly { readonly type?: string; readonly address?: string }[]): string {
  for (const wanted of engine.agents?.addressTypes ?? usualAddressTypes) {
    const found = addresses.find(({ type, address = '' }) => type === wanted && address !== '')
    if (found?.address !== undefined) return found.address
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
  throw plainError(`no preferred addresses found; known addresses: [${known}]`)
}

/** What went wrong on the way, without a reason that programs could go by. */
export const plainError = (message: string, cause?: unknown): ApiError => new ApiError({ code: 500, message }, { cause })
