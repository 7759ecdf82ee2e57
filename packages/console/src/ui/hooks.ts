// Hooks that all pages use: tasks that end with their component, loaded values, and subscriptions.

import { useEffect, useReducer, useState } from 'preact/hooks'

type Inputs = readonly unknown[]

/** Runs a task until the component is removed or the inputs change. Returns its error, unless it was aborted. */
export function useTask(run: (signal: AbortSignal) => Promise<void>, inputs: Inputs): unknown {
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const controller = new AbortController()
    setError(undefined)
    run(controller.signal).catch((thrown: unknown) => {
      if (!controller.signal.aborted) setError(thrown)
    })
    return () => controller.abort()
  }, inputs)
  return error
}

export interface Loaded<T> {
  /** Undefined while it is loaded for the first time. The value of earlier inputs stays until the next one arrives. */
  readonly value: T | undefined
  readonly error: unknown
}

export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs): Loaded<T> {
  const [value, setValue] = useState<T>()
  const error = useTask(async (signal) => {
    const loaded = await load(signal)
    if (!signal.aborted) setValue(() => loaded)
  }, inputs)
  return { value, error }
}

/** Returns the function that draws the component again. */
export function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0)
  return () => redraw(undefined)
}

/** Draws the component again at each notification. */
export function useSubscription(subscribe: (listener: () => void) => () => void, inputs: Inputs): void {
  const redraw = useRedraw()
  useEffect(() => subscribe(redraw), inputs)
}
