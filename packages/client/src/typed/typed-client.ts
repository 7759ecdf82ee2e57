// Typed client: accessors for all built-in kinds, such as `client.apps.v1.deployments('shop')`.

import { Client, type ClientSettings } from '../client.js'
import type { Impersonation } from '../requests/impersonation.js'
import { type GroupEntry, type KindEntry, type Kinds, kinds, type NamespacedKind } from './kinds.js'

/** Accessors of namespaced kinds take a namespace; without one they mean all namespaces. */
type Accessor<Entry> =
  Entry extends NamespacedKind<infer C> ? (namespace?: string) => C : Entry extends KindEntry<infer C> ? () => C : never

type Accessors<Group> =
  Group extends GroupEntry<infer Versions>
    ? { readonly [Version in keyof Versions]: { readonly [Name in keyof Versions[Version]]: Accessor<Versions[Version][Name]> } }
    : never

export type TypedGroups = { readonly [Group in keyof Kinds]: Accessors<Kinds[Group]> }

export interface TypedClient extends Client, TypedGroups {
  as(impersonate: Impersonation | undefined): TypedClient
}

type Entries = { readonly [version: string]: { readonly [name: string]: KindEntry<unknown> } }

class ClientWithKinds extends Client {
  private readonly ownSettings: ClientSettings

  constructor(settings: ClientSettings) {
    super(settings)
    this.ownSettings = settings
  }

  override as(impersonate: Impersonation | undefined): TypedClient {
    return makeTypedClient({ ...this.ownSettings, impersonate })
  }

  accessors({ group, versions }: GroupEntry<Entries>): object {
    return Object.fromEntries(
      Object.entries(versions).map(([version, entries]) => [
        version,
        Object.fromEntries(
          Object.entries(entries).map(([name, { kind, namespaced, type: Type }]) => {
            const ref = { group, version, resource: name.toLowerCase(), kind, namespaced }
            return [name, (namespace?: string) => new Type(this.collectionSettings(ref, namespace))]
          }),
        ),
      ]),
    )
  }
}

export function makeTypedClient(settings: ClientSettings): TypedClient {
  const client = new ClientWithKinds(settings)
  for (const [name, group] of Object.entries(kinds)) {
    let accessors: object | undefined
    Object.defineProperty(client, name, {
      enumerable: true,
      get: () => {
        accessors ??= client.accessors(group as GroupEntry<Entries>)
        return accessors
      },
    })
  }
  return client as unknown as TypedClient
}
