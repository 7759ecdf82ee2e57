// Reads the text format of /metrics: samples with their labels.

export interface Sample {
  readonly labels: { readonly [name: string]: string }
  readonly value: number
}

export type Metrics = ReadonlyMap<string, readonly Sample[]>

const maxSamples = 100_000

export function readMetrics(text: string, wanted: ReadonlySet<string>): Metrics {
  const metrics = new Map<string, Sample[]>()
  let count = 0
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const end = line.search(/[{ ]/)
    const name = line.slice(0, end)
    if (!wanted.has(name)) continue
    if (++count > maxSamples) break
    const samples = metrics.get(name) ?? []
    samples.push({ labels: line[end] === '{' ? readLabels(line) : {}, value: Number(line.slice(line.lastIndexOf(' ') + 1)) })
    metrics.set(name, samples)
  }
  return metrics
}

const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const readLabels = (line: string): { readonly [name: string]: string } =>
  Object.fromEntries([...line.matchAll(labelPattern)].map(([, name = '', value = '']) => [name, value.replaceAll(/\\(.)/g, '$1')]))

export const sumOf = (samples: readonly Sample[] | undefined, matches: (labels: Sample['labels']) => boolean = () => true): number =>
  (samples ?? []).reduce((sum, { labels, value }) => (matches(labels) ? sum + value : sum), 0)
