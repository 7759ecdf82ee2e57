// What can be discovered of a resource, whoever serves it: the words of the document that has all of discovery in it.

import type { RemoteVersion } from './api-services.js'

export interface DiscoveredGroup {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly DiscoveredVersion[]
}

export interface DiscoveredVersion {
  readonly version: string
  readonly resources: readonly DiscoveredResource[]
  readonly freshness: 'Current' | 'Stale'
}

export interface DiscoveredResource {
  readonly resource: string
  readonly responseKind: ResponseKind
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly DiscoveredSubresource[]
}

export interface DiscoveredSubresource {
  readonly subresource: string
  readonly responseKind: ResponseKind
  readonly verbs: readonly string[]
}

export interface ResponseKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What other servers have said of the versions that they answer for. A value never changes; what is heard later is another. */
export class RemoteDiscovery {
  /** By the name of the API service. */
  private readonly heard: ReadonlyMap<string, DiscoveredVersion>

  constructor(heard: ReadonlyMap<string, DiscoveredVersion>) {
    this.heard = heard
  }

  /** Of one that was never heard, nothing, and that this may be wrong. */
  of({ name, version }: Pick<RemoteVersion, 'name' | 'version'>): DiscoveredVersion {
    return this.heard.get(name) ?? { version, resources: [], freshness: 'Stale' }
  }
}

export const nothingDiscovered = new RemoteDiscovery(new Map())
