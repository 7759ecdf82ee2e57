// The client with a word for every kind that the server knows by itself: `client.apps.v1.deployments('shop')`.

import type { GroupName } from '../../api/identity.js'
import { Client, type ClientSettings } from '../client.js'
import type { CollectionSettings } from '../collection.js'
import type { Impersonation } from '../impersonation.js'
import { type Kinds, kinds } from './kinds.js'

/** A kind as the table names it; `C` is what its objects are reached through. */
export interface KindEntry<C> {
  readonly kind: string
  readonly namespaced: boolean
  readonly type: new (settings: CollectionSettings) => C
}

export interface NamespacedKind<C> extends KindEntry<C> {
  readonly namespaced: true
}

export interface GroupEntry<Versions> {
  readonly group: GroupName
  readonly versions: Versions
}

/** Namespaced ones take a namespace; without one they are those of all namespaces. */
type Access<Entry> = Entry extends NamespacedKind<infer C> ? (namespace?: string) => C : Entry extends KindEntry<infer C> ? () => C : never

type Accesses<Group> =
  Group extends GroupEntry<infer Versions>
    ? { readonly [Version in keyof Versions]: { readonly [Name in keyof Versions[Version]]: Access<Versions[Version][Name]> } }
    : never

export type TypedGroups = { readonly [Group in keyof Kinds]: Accesses<Kinds[Group]> }

export interface TypedClient extends Client, TypedGroups {
  as(impersonate: Impersonation | undefined): TypedClient
}

type Entries = { readonly [version: string]: { readonly [name: string]: KindEntry<unknown> } }

class ClientWithKinds extends Client {
  private readonly given: ClientSettings

  constructor(settings: ClientSettings) {
    super(settings)
    this.given = settings
  }

  override as(impersonate: Impersonation | undefined): TypedClient {
    return makeTypedClient({ ...this.given, impersonate })
  }

  /** Functions that make collections, by version and name. */
  accesses({ group, versions }: GroupEntry<Entries>): object {
    return Object.fromEntries(
      Object.entries(versions).map(([version, entries]) => [
        version,
        Object.fromEntries(
          Object.entries(entries).map(([name, { kind, namespaced, type: Type }]) => {
            const ref = { group, version, resource: name.toLowerCase(), kind, namespaced }
            return [name, (namespace?: string) => new Type(this.place(ref, namespace))]
          }),
        ),
      ]),
    )
  }
}

export function makeTypedClient(settings: ClientSettings): TypedClient {
  const client = new ClientWithKinds(settings)
  for (const [name, group] of Object.entries(kinds)) {
    let accesses: object | undefined
    Object.defineProperty(client, name, {
      enumerable: true,
      get: () => {
        accesses ??= client.accesses(group as GroupEntry<Entries>)
        return accesses
      },
    })
  }
  return client as unknown as TypedClient
}
