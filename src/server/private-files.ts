// Small files that only their owner may read: keys, tokens, client configuration. Written whole or not at all.

import { closeSync, fsync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Undefined when there is no such file. */
export function readOptionalFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** With the folders above it, as far as they are missing. Node's own `recursive` tries forever where a folder cannot be made, as in /proc. */
export function makePrivateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makePrivateFolder(parent)
  mkdirSync(path, { mode: 0o700 })
}

export type WriteFile = (path: string, content: string) => void

/** A reader sees the old content or the new one, also after a crash; folders on the way are made. */
export const writePrivateFile: WriteFile = (path, content) =>
  withDraft(path, content, ({ file, draft }) => {
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  })

/**
 * The same for files that a start makes: they become durable beside the event loop, while it goes on with something else. Nobody may be told of
 * what they hold before they are written.
 */
export class PendingFiles {
  #pending: Promise<void>[] = []
  /** Two at a time: Node has four threads for such things, and the first commits of a start are not to wait for one. */
  readonly #lanes: [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()]
  #open = 0
  /** Where something was renamed since they were last synced. */
  readonly #folders = new Set<string>()

  readonly write: WriteFile = (path, content) => {
    this.#keep(withDraft(path, content, (written) => this.#next(() => putInPlace(path, written))))
    this.#folders.add(dirname(path))
  }

  /** Resolves when all of them are in their places and durable, and rejects with why one of them is not. */
  async written(): Promise<void> {
    let failed: { readonly reason: unknown } | undefined
    while (this.#pending.length > 0) {
      for (const outcome of await Promise.allSettled(this.#pending.splice(0))) if (outcome.status === 'rejected') failed ??= outcome
    }
    if (failed !== undefined) throw failed.reason
  }

  #keep(isDone: Promise<void>): void {
    // Whoever waits for `written` hears of it.
    isDone.catch(() => undefined)
    this.#pending.push(isDone)
  }

  async #next(work: () => Promise<void>): Promise<void> {
    this.#open += 1
    const [lane, other] = this.#lanes
    const isDone = lane.then(work, work)
    this.#lanes[0] = other
    this.#lanes[1] = isDone
    try {
      await isDone
    } finally {
      this.#open -= 1
      if (this.#open === 0) this.#syncFolders()
    }
  }

  /** A name is as durable as the folder that it stands in. */
  #syncFolders(): void {
    for (const folder of this.#folders) this.#keep(this.#next(() => syncFolder(folder)))
    this.#folders.clear()
  }
}

export function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r')
  return new Promise((resolve, reject) => {
    fsync(folder, (failed) => {
      closeSync(folder)
      if (failed) reject(failed)
      else resolve()
    })
  })
}

interface Draft {
  readonly file: number
  readonly draft: string
}

function putInPlace(path: string, { file, draft }: Draft): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(file, (failed) => {
      try {
        closeSync(file)
        if (failed) throw failed
        renameSync(draft, path)
        resolve()
      } catch (thrown) {
        reject(given(thrown, { path, draft }))
      }
    })
  })
}

function withDraft<T>(path: string, content: string, finish: (written: Draft) => T): T {
  makePrivateFolder(dirname(path))
  const draft = `${path}.${process.pid}.draft`
  try {
    return finish({ file: openWritten(draft, content), draft })
  } catch (thrown) {
    throw given(thrown, { path, draft })
  }
}

function openWritten(draft: string, content: string): number {
  // Never an existing file: it could belong to another user, have another mode, or be a link.
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, content)
    return file
  } catch (thrown) {
    closeSync(file)
    throw thrown
  }
}

/** Writing to an open file fails without a word about which one, and the operator wants to know. */
function given(thrown: unknown, { path, draft }: { readonly path: string; readonly draft: string }): NodeJS.ErrnoException {
  rmSync(draft, { force: true })
  return Object.assign(thrown as NodeJS.ErrnoException, { path })
}
