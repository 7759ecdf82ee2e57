// ConfigMaps of a given size that workloads read and write.

/** Bytes of the serialized object without its data, measured once: the data fills the rest. */
const overheadBytes = 420

interface ObjectInput {
  readonly name: string
  readonly bytes: number
  readonly labels?: Readonly<Record<string, string>>
  /** Changes the content, not the size. */
  readonly variant?: string
}

/** Maximum bytes of one data value, so that a large object has many fields. */
const maxValueBytes = 1000

export function configMap({ name, bytes, labels, variant = 'a' }: ObjectInput) {
  const data: Record<string, string> = {}
  let left = Math.max(1, bytes - overheadBytes)
  for (let i = 0; left > 0; i++) {
    const length = Math.min(left, maxValueBytes)
    // Each field also costs its key, in data and in managedFields.
    data[`key-${String(i).padStart(3, '0')}`] = (i === 0 ? variant : '').padEnd(Math.max(1, length - 32), 'some text of no meaning ')
    left -= length
  }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(labels === undefined ? {} : { labels }) }, data }
}

export const configMapText = (input: ObjectInput): string => JSON.stringify(configMap(input))
