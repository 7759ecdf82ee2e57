// Where the catalog of this moment is found. Definitions come and go while the server runs; whoever serves a request takes `current` once,
// at its beginning, and whoever stays takes it anew each time or follows the changes.

import type { Catalog, CatalogChange } from './catalog.js'

/** Told of a catalog that has just become the current one, and of the one before it. Must not throw. */
export type CatalogListener = (current: Catalog, before: Catalog) => void

export class CatalogSource {
  private catalog: Catalog
  private readonly listeners = new Set<CatalogListener>()

  constructor(first: Catalog) {
    this.catalog = first
  }

  get current(): Catalog {
    return this.catalog
  }

  /** Puts another catalog in place of the current one; all of a change is seen at once, or nothing of it. */
  change(change: CatalogChange): Catalog {
    const before = this.catalog
    const next = before.with(change)
    if (next === before) return before
    this.catalog = next
    for (const listener of [...this.listeners]) listener(next, before)
    return next
  }

  /** Gives what ends it. */
  onChange(listener: CatalogListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
}
