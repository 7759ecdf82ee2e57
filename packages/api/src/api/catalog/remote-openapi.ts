// What other servers have said of the types and paths that they answer for. A value never changes; what is heard later is another.

/** A part of an OpenAPI document of version 2, cleaned: nothing is in it that such a document does not have. */
export type SpecPart = { readonly [name: string]: unknown }

/** The JSON of such parts, by their names: as values they would take many times the room, and long to be collected. */
export type SpecParts = ReadonlyMap<string, Uint8Array>

/** Of one version that another server answers for. */
export interface RemoteSpec {
  /** Of the API service. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly paths: SpecParts
  /** Those that the paths speak of, and whatever these do. */
  readonly definitions: SpecParts
}

export interface RemoteOpenApi {
  readonly specs: readonly RemoteSpec[]
  /** Addresses of documents of version 3 that other servers have, with their hashes, by names such as `apis/apps/v1`. */
  readonly addresses: ReadonlyMap<string, string>
}

export const noRemoteOpenApi: RemoteOpenApi = { specs: [], addresses: new Map() }
