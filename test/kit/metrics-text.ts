// Parser for `/metrics`: metric types, samples and labels; and the number of worker thread steps of a request.

import type { ApiClient } from './api-client.js'

export interface Sample {
  readonly name: string
  readonly labels: { readonly [name: string]: string }
  readonly labelNames: readonly string[]
  readonly value: number
}

export interface MetricsText {
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
  /** Sum of all samples with this name and these labels. */
  sum(name: string, labels?: { readonly [name: string]: string }): number
}

/** Number of worker thread steps during `act`. */
export async function workerSteps(client: ApiClient, act: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> => readMetrics((await client.get('/metrics')).text).sum('apiserver_worker_steps_total')
  const before = await count()
  await act()
  return (await count()) - before
}

export function readMetrics(text: string): MetricsText {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line)
    if (type !== null) types.set(type[1] as string, type[2] as string)
    if (line === '' || line.startsWith('#')) continue
    const sample = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (sample === null) throw new Error(`no sample: ${line}`)
    const pairs = Array.from((sample[2] ?? '').matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g), (pair) => [pair[1], pair[2]] as const)
    samples.push({
      name: sample[1] as string,
      labels: Object.fromEntries(pairs),
      labelNames: pairs.map(([name]) => name as string),
      value: Number(sample[3]),
    })
  }
  return {
    types,
    samples,
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0),
  }
}
