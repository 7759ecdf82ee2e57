// Time slices of long work in a browser: it draws and handles input between them.

import type { Turns } from '@cluster-apiserver/api/resources/admissionregistration/policy/compiled-policy.js'

const sliceMs = 8

export function browserTurns(signal: AbortSignal): Turns {
  let startMs = performance.now()
  const isSpent = (): boolean => performance.now() - startMs >= sliceMs
  const nextTurn = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
    startMs = performance.now()
  }
  return {
    get isSpent() {
      return isSpent()
    },
    nextTurn,
    yieldIfSpent: async () => {
      if (isSpent()) await nextTurn()
    },
  }
}
