// Hooks that all pages use: tasks that end with their component, loaded values, and subscriptions.

import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks'

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

const pollMs = 3000
const slowestPollMs = 30_000

/** Loads again and again while the tab is visible. */
export function usePolled<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, error: undefined })
  useTask(async (signal) => {
    for (let waitMs = pollMs; !signal.aborted; await new Promise((resolve) => setTimeout(resolve, waitMs))) {
      if (document.visibilityState !== 'visible') continue
      const beganMs = performance.now()
      const next = await load(signal).then(
        (value) => ({ value, error: undefined }),
        (error: unknown) => ({ value: undefined, error }),
      )
      if (!signal.aborted) setLoaded(next)
      // Responses of a large server take long: they get at most a tenth of its time.
      waitMs = Math.min(Math.max(pollMs, 10 * (performance.now() - beganMs)), slowestPollMs)
    }
  }, [])
  return loaded
}

/** Returns the function that draws the component again. */
export function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0)
  return () => redraw(undefined)
}

/** Returns the function that draws the component again in the next frame, once for all calls. */
export function useFrameRedraw(): () => void {
  const redraw = useRedraw()
  const frame = useRef<number | undefined>(undefined)
  useEffect(() => () => cancelAnimationFrame(frame.current ?? 0), [])
  return useCallback(() => {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined
      redraw()
    })
  }, [])
}

/** Draws the component again at each notification. */
export function useSubscription(subscribe: (listener: () => void) => () => void, inputs: Inputs): void {
  const redraw = useRedraw()
  useEffect(() => subscribe(redraw), inputs)
}
