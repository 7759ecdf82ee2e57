// Probes the discovery of an extension API server, several times because its Service may have many endpoints, until one attempt succeeds.

import type { RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { ExtensionClient } from './extension-client.js'

export const defaultAttempts = 5
const nextAttemptMs = 500

export const discoveryPath = ({ group, version }: Pick<RemoteVersion, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

export interface Probing {
  readonly signal: AbortSignal
  readonly attempts: number
}

/** Returns undefined if an attempt succeeded, otherwise the error message. */
export async function probeVersion(
  extensionClient: ExtensionClient,
  version: RemoteVersion,
  { signal, attempts }: Probing,
): Promise<string | undefined> {
  const stop = new AbortController()
  const end = (): void => stop.abort()
  signal.addEventListener('abort', end, { once: true })
  const attempt = async (): Promise<string | undefined> => {
    // Preparing a connection takes CPU time, and many services may be probed in one event-loop iteration.
    await turnBudget.yieldIfSpent()
    try {
      const { url, status } = await extensionClient.probe(version.remote, discoveryPath(version), stop.signal)
      return status >= 200 && status < 300 ? undefined : `failing or missing response from ${url}: bad status from ${url}: ${status}`
    } catch (thrown) {
      return errorMessage(thrown)
    }
  }
  try {
    return await firstSuccess(attempt, attempts)
  } finally {
    signal.removeEventListener('abort', end)
    stop.abort()
  }
}

function firstSuccess(attempt: () => Promise<string | undefined>, maxAttempts: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let started = 0
    let failed = 0
    let timer: NodeJS.Timeout | undefined
    const start = (): void => {
      clearTimeout(timer)
      if (started === maxAttempts) return
      started += 1
      timer = setTimeout(start, nextAttemptMs)
      void attempt().then((problem) => {
        if (problem !== undefined) failed += 1
        if (problem === undefined || failed === maxAttempts) {
          clearTimeout(timer)
          resolve(problem)
        } else start()
      })
    }
    start()
  })
}
