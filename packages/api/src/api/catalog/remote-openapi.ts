// OpenAPI of remote API servers: paths and definitions of v2 documents, and URLs of v3 documents, as immutable values.

/** Part of an OpenAPI v2 document, without members that v2 does not define. */
export type SpecPart = { readonly [name: string]: unknown }

/** JSON bytes by name. Parsed values would take many times the memory. */
export type SpecParts = ReadonlyMap<string, Uint8Array>

export interface RemoteSpec {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly paths: SpecParts
  readonly definitions: SpecParts
}

export interface RemoteOpenApi {
  readonly specs: readonly RemoteSpec[]
  /** serverRelativeURLs of OpenAPI v3 documents, by document name such as `apis/apps/v1`. */
  readonly addresses: ReadonlyMap<string, string>
}

export const noRemoteOpenApi: RemoteOpenApi = { specs: [], addresses: new Map() }
