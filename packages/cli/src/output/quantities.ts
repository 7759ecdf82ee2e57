// Quantities such as 100m and 1Gi as floating point numbers, exact enough for percentages.

const units: { readonly [suffix: string]: number } = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

export function parseQuantity(text: unknown): number {
  const [, digits, suffix = ''] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(String(text ?? '')) ?? []
  const unit = Object.hasOwn(units, suffix) ? units[suffix] : undefined
  return digits === undefined || unit === undefined ? 0 : Number(digits) * unit
}

export function formatQuantity(name: string, amount: number): string {
  if (name === 'cpu') return Number.isInteger(amount) ? String(amount) : `${Math.ceil(amount * 1000)}m`
  const unit = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'].find((suffix) => amount !== 0 && amount % (units[suffix] as number) === 0)
  return unit === undefined ? String(Math.ceil(amount)) : `${amount / (units[unit] as number)}${unit}`
}
