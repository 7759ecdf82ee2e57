// A number that is no integer, in the shortest form that reads back as the same, with the exponent where the reference puts one.

/** From a million on, and below a ten-thousandth, with an exponent of at least two digits: `1.5e+06`. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (value === 0 || (exponent >= -4 && exponent < 6)) return String(value)
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`
}
