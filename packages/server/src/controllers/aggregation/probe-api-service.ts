// Whether a version that another server answers for can be discovered there: several attempts, for a service has many endpoints, each started
// when the one before it has failed or keeps us waiting.

import type { RemoteVersion } from '../../api/api-services.js'
import { sharedPieces } from '../../base/pieces.js'
import type { ExtensionAsker } from './ask-extension.js'

export const usualAttempts = 5
/** After so long without an answer the next attempt is made beside it. */
const patienceMs = 500

export const discoveryPath = ({ group, version }: Pick<RemoteVersion, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

export interface Probing {
  readonly signal: AbortSignal
  readonly attempts: number
}

/** Undefined: it can. Otherwise one sentence that says why not. */
export async function probeVersion(
  asker: ExtensionAsker,
  version: RemoteVersion,
  { signal, attempts }: Probing,
): Promise<string | undefined> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  signal.addEventListener('abort', end, { once: true })
  const attempt = async (): Promise<string | undefined> => {
    // A connection takes a moment to prepare, and many services may be asked again at the same time.
    if (sharedPieces.isOver) await sharedPieces.next()
    try {
      const { url, status } = await asker.probe(version.remote, discoveryPath(version), ending.signal)
      return status >= 200 && status < 300 ? undefined : `failing or missing response from ${url}: bad status from ${url}: ${status}`
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown)
    }
  }
  try {
    return await firstGood(attempt, attempts)
  } finally {
    signal.removeEventListener('abort', end)
    ending.abort()
  }
}

/** The last failure, when all have failed. */
function firstGood(attempt: () => Promise<string | undefined>, mostAttempts: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let begun = 0
    let failed = 0
    let timer: NodeJS.Timeout | undefined
    const begin = (): void => {
      clearTimeout(timer)
      if (begun === mostAttempts) return
      begun += 1
      timer = setTimeout(begin, patienceMs)
      void attempt().then((problem) => {
        if (problem !== undefined) failed += 1
        if (problem === undefined || failed === mostAttempts) {
          clearTimeout(timer)
          resolve(problem)
        } else begin()
      })
    }
    begin()
  })
}
