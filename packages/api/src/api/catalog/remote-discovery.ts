// Aggregated discovery documents of remote API servers: groups, versions and resources.

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

/** Immutable discovery documents of remote servers, by APIService name. */
export class RemoteDiscovery {
  private readonly documents: ReadonlyMap<string, DiscoveredVersion>

  constructor(documents: ReadonlyMap<string, DiscoveredVersion>) {
    this.documents = documents
  }

  /** A version that was never received is empty and stale. */
  of({ name, version }: Pick<RemoteVersion, 'name' | 'version'>): DiscoveredVersion {
    return this.documents.get(name) ?? { version, resources: [], freshness: 'Stale' }
  }
}

export const noRemoteDiscovery = new RemoteDiscovery(new Map())
