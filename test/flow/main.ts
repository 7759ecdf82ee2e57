// Prints what a flood does to others, again and again: `node .build/test/flow/main.js 500 1000 [flags of the server]`.

import { measureFlood } from './flood.js'

const [, , connections = '500', requests = '1000', ...flags] = process.argv
const result = await measureFlood({ connections: Number(connections), requests: Number(requests), flags })
console.log(JSON.stringify(result, (_, value: unknown) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value)))
console.log(`p99 beside the flood is ${(result.beside.p99 / result.alone.p99).toFixed(1)} times that alone`)
