// Runs apply-property.test.ts, random applies and updates, with 200 scenarios and a random seed unless the environment sets them.

process.env['SEED'] ??= String(Math.floor(Math.random() * 2 ** 31))
process.env['APPLY_SCENARIOS'] ??= '200'
await import('./apply-property.test.js')
