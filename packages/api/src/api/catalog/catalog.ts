// Catalog: an immutable snapshot of all served kinds, found by path segments. CatalogSource has the current catalog and its listeners.

import type { ResourceDefinition } from '../definition/resource-definition.js'
import type { Identity } from '../identity.js'
import { type CatalogContents, changeContents, noContents } from './catalog-contents.js'
import type { CatalogChange, CatalogOptions, Resource, ServedGroup, ServedVersion } from './resource.js'

export class Catalog {
  readonly identity: Identity
  private readonly options: CatalogOptions
  private readonly contents: CatalogContents
  private allResources: readonly Resource[] | undefined
  private firstOfCollections: readonly Resource[] | undefined
  private servedVersions: readonly ServedVersion[] | undefined

  constructor(
    options: CatalogOptions & { readonly definitions: readonly ResourceDefinition[] },
    contents = changeContents(noContents, { put: options.definitions }, options),
  ) {
    this.identity = options.identity
    this.options = options
    this.contents = contents
  }

  /** Groups and resources that the change does not touch are the same values in both catalogs. */
  with(change: CatalogChange): Catalog {
    const contents = changeContents(this.contents, change, this.options)
    return contents === this.contents ? this : new Catalog({ ...this.options, definitions: [] }, contents)
  }

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.contents.groups.get(group)?.versions.get(version)?.resources.get(resource)
  }

  hasVersion(group: string, version: string): boolean {
    return this.contents.groups.get(group)?.versions.has(version) ?? false
  }

  /** True for groups of CustomResourceDefinitions. */
  isCustomGroup(name: string): boolean {
    const [version] = this.contents.groups.get(name)?.versions.values() ?? []
    const [resource] = version?.resources.values() ?? []
    return resource?.definition.custom !== undefined
  }

  hasGroup(group: string): boolean {
    return this.contents.groups.has(group)
  }

  groups(): ReadonlyMap<string, ServedGroup> {
    return this.contents.groups
  }

  groupVersions(): readonly ServedVersion[] {
    this.servedVersions ??= [...this.contents.groups.values()].flatMap(({ versions }) => [...versions.values()])
    return this.servedVersions
  }

  all(): readonly Resource[] {
    this.allResources ??= this.groupVersions().flatMap(({ resources }) => [...resources.values()])
    return this.allResources
  }

  /** The first resource of each storage collection. */
  collections(): readonly Resource[] {
    this.firstOfCollections ??= [...this.contents.collections.values()].flatMap(({ resources: [first] }) => first ?? [])
    return this.firstOfCollections
  }

  inCollection(name: string): Resource | undefined {
    return this.contents.collections.get(name)?.resources[0]
  }
}

/** Called after each change of the catalog. Must not throw. */
type CatalogListener = (current: Catalog, before: Catalog) => void

export class CatalogSource {
  private catalog: Catalog
  private readonly listeners = new Set<CatalogListener>()

  constructor(first: Catalog) {
    this.catalog = first
  }

  get current(): Catalog {
    return this.catalog
  }

  /** Replaces the current catalog atomically, then calls the listeners. */
  change(change: CatalogChange): Catalog {
    const before = this.catalog
    const next = before.with(change)
    if (next === before) return before
    this.catalog = next
    for (const listener of [...this.listeners]) listener(next, before)
    return next
  }

  onChange(listener: CatalogListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
}
