// Number of nodes of JSON values: a bound of the time to compare them.

/** Characters of a string that count as one node. */
const charsPerNode = 32

export const nodesOfText = (text: string): number => 1 + Math.floor(text.length / charsPerNode)

export function nodesOfJson(data: unknown, limit: number): number {
  if (typeof data === 'string') return nodesOfText(data)
  if (typeof data !== 'object' || data === null) return 1
  let nodes = 1
  if (Array.isArray(data)) for (let i = 0; i < data.length && nodes < limit; i++) nodes += nodesOfJson(data[i], limit - nodes)
  else {
    for (const name in data) {
      if (nodes >= limit) break
      nodes += nodesOfJson((data as { readonly [name: string]: unknown })[name], limit - nodes)
    }
  }
  return nodes
}
