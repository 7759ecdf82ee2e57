// Label selectors of workloads as query text.

export interface LabelSelector {
  readonly matchLabels?: { readonly [name: string]: string }
  readonly matchExpressions?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[]
}

export function selectorQuery({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const others = matchExpressions.map(({ key = '', operator = '', values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values.join(',')})`
  })
  return [...equal, ...others].join(',')
}
