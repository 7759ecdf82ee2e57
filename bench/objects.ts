// The objects that workloads read and write: config maps of a given size.

/** What the server adds and the rest of the wire form, measured once: the payload fills up to the size that is wanted. */
const overheadBytes = 420

export interface ObjectInput {
  readonly name: string
  readonly bytes: number
  readonly labels?: Readonly<Record<string, string>>
  /** Changes the content without changing its size. */
  readonly mark?: string
}

const largestValue = 1000

/** Data in keys of a thousand bytes at most, so that a big object has many fields, as big objects do. */
export function configMap({ name, bytes, labels, mark = 'a' }: ObjectInput) {
  const data: Record<string, string> = {}
  let left = Math.max(1, bytes - overheadBytes)
  for (let i = 0; left > 0; i++) {
    const length = Math.min(left, largestValue)
    // Each field also costs its key, here and among the managed fields.
    data[`key-${String(i).padStart(3, '0')}`] = (i === 0 ? mark : '').padEnd(Math.max(1, length - 32), 'some text of no meaning ')
    left -= length
  }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(labels === undefined ? {} : { labels }) }, data }
}

export const configMapText = (input: ObjectInput): string => JSON.stringify(configMap(input))
