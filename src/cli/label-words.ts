// Labels in one word: `app=web,tier=front`.

import { Failure } from './failure.js'

export function labelsIn(text: string): { readonly [name: string]: string } {
  const pairs = text.split(',').map((pair) => {
    const [name = '', value, ...more] = pair.split('=')
    if (name === '' || value === undefined || more.length > 0) throw new Failure(`unexpected label spec: ${pair}`)
    return [name, value] as const
  })
  return Object.fromEntries(pairs)
}
