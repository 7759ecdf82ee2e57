// Profiles of this process under /debug/pprof, as files that the developer tools of browsers read: processor time over some seconds, or the heap
// as it was allocated. One at a time, and not for long; the inspector is loaded when somebody asks.

import { ApiError, badRequest, tooManyRequests } from '../api/api-error.js'
import { readQuery } from '../api/options/query.js'
import type { Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { send, sendPlain } from './respond.js'

const mostSeconds = 60
const usualSeconds = 30
const usualHeapSeconds = 5

type ProfileName = 'profile' | 'heap'

const index = `profiles of this process, in the format of V8: open them in the developer tools of a browser
/debug/pprof/profile?seconds=30  processor time (.cpuprofile)
/debug/pprof/heap?seconds=5      what is allocated meanwhile and stays (.heapprofile)
`

export class Profiles {
  #isBusy = false

  /** What stands behind `/debug/pprof/`; undefined: nothing. */
  serve(exchange: Exchange, name: string): Answered | Promise<Answered> | undefined {
    if (name === '') {
      sendPlain(exchange, 200, index)
      return true
    }
    return name === 'profile' || name === 'heap' ? this.#take(exchange, name) : undefined
  }

  async #take(exchange: Exchange, name: ProfileName): Promise<Answered> {
    const seconds = secondsOf(exchange, name === 'heap' ? usualHeapSeconds : usualSeconds)
    if (this.#isBusy) throw tooManyRequests('a profile is being taken already; ask again when it is done', seconds)
    this.#isBusy = true
    try {
      const body = Buffer.from(JSON.stringify(await record(name, seconds, exchange.signal)))
      const file = name === 'heap' ? 'heap.heapprofile' : 'cpu.cpuprofile'
      send(exchange, {
        code: 200,
        contentType: 'application/json',
        body,
        headers: { 'Content-Disposition': `attachment; filename="${file}"` },
      })
      return true
    } finally {
      this.#isBusy = false
    }
  }
}

function secondsOf({ info }: Exchange, usual: number): number {
  const said = readQuery(info.query).first('seconds') ?? ''
  if (said === '') return usual
  const seconds = Number(said)
  if (!(seconds > 0 && seconds <= mostSeconds)) throw badRequest(`seconds must be more than 0 and at most ${mostSeconds}`)
  return seconds
}

/** Ends early when nobody waits for it any more. */
async function record(name: ProfileName, seconds: number, signal: AbortSignal): Promise<unknown> {
  const { Session } = process.getBuiltinModule('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    if (name === 'heap') {
      await session.post('HeapProfiler.startSampling', { samplingInterval: 32_768 })
      await pause(seconds, signal)
      return (await session.post('HeapProfiler.stopSampling')).profile
    }
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await pause(seconds, signal)
    return (await session.post('Profiler.stop')).profile
  } finally {
    session.disconnect()
  }
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(ApiError.from(signal.reason))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, seconds * 1000)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
