// CPU and heap profiles under /debug/pprof/, in the format of V8. One is recorded at a time.

import { ApiError, badRequest, tooManyRequests } from '@cluster-apiserver/api/api/api-error.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { send, sendPlain } from '../responses/send-response.js'

const maxSeconds = 60
const defaultCpuSeconds = 30
const defaultHeapSeconds = 5

type ProfileName = 'profile' | 'heap'

const index = `Profiles of this process, in the format of V8: open them in the developer tools of a browser.
/debug/pprof/profile?seconds=30  CPU profile (.cpuprofile)
/debug/pprof/heap?seconds=5      sampled heap allocations that are still live (.heapprofile)
`

export class Profiles {
  #isRecording = false

  async serve(exchange: Exchange, name: string): Promise<Handled> {
    if (name === 'profile' || name === 'heap') return this.#record(exchange, name)
    if (name !== '') return false
    sendPlain(exchange, 200, index)
    return true
  }

  async #record(exchange: Exchange, name: ProfileName): Promise<Handled> {
    const seconds = secondsOf(exchange, name === 'heap' ? defaultHeapSeconds : defaultCpuSeconds)
    if (this.#isRecording) throw tooManyRequests('another profile is being recorded; retry when it is done', seconds)
    this.#isRecording = true
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
      this.#isRecording = false
    }
  }
}

function secondsOf({ info }: Exchange, defaultSeconds: number): number {
  const parameter = readQuery(info.query).first('seconds') ?? ''
  if (parameter === '') return defaultSeconds
  const seconds = Number(parameter)
  if (!(seconds > 0 && seconds <= maxSeconds)) throw badRequest(`seconds must be more than 0 and at most ${maxSeconds}`)
  return seconds
}

/** Rejects if the client disconnects. */
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
