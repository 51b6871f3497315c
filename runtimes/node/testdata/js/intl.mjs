// What Intl answers for en-US. What this host refuses is not here.
export default function () {
  const d = new Date(Date.UTC(2024, 1, 29, 10, 20, 30, 456)), summer = new Date(Date.UTC(2024, 6, 1, 22, 5)), bc = new Date(Date.UTC(-43, 2, 15, 10));
  const show = (...values) => console.log(values.map((v) => (typeof v === 'string' ? v : JSON.stringify(v))).join(' | '));
  for (const era of ['short', 'long', 'narrow']) {
    for (const o of [{}, { year: 'numeric' }, { year: 'numeric', month: '2-digit', day: '2-digit' }, { year: 'numeric', month: 'short', day: 'numeric' }, { year: 'numeric', month: 'long' }, { weekday: 'long', year: '2-digit', month: 'numeric', day: 'numeric' }, { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }, { hour: 'numeric' }]) {
      for (const x of [d, bc]) {
        const f = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...o, era });
        show(f.format(x), f.formatToParts(x));
      }
    }
  }
  for (const timeZone of ['UTC', 'America/New_York', 'America/Chicago', 'America/Phoenix', 'America/Los_Angeles', 'America/Anchorage', 'Pacific/Honolulu', 'Europe/Berlin', 'Europe/London', 'Europe/Helsinki', 'Europe/Lisbon', 'Europe/Moscow', 'Asia/Kolkata', 'Asia/Tokyo', 'Asia/Shanghai', 'Asia/Kathmandu', 'Asia/Singapore', 'Australia/Sydney', 'Australia/Adelaide', 'Pacific/Auckland', 'Africa/Johannesburg', 'Africa/Nairobi', 'America/Sao_Paulo']) {
    for (const x of [d, summer]) {
      show(timeZone, ...['short', 'long', 'shortOffset', 'longOffset'].map((timeZoneName) => new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit', timeZoneName }).format(x)));
    }
    show(d.toLocaleDateString('en-US', { timeZone, timeZoneName: 'short' }), d.toLocaleString('en-US', { timeZone, dateStyle: 'full', timeStyle: 'long' }), d.toLocaleTimeString('en-US', { timeZone, timeStyle: 'full' }));
  }
  for (const o of [{ weekday: 'short', month: 'short', day: 'numeric' }, { day: 'numeric', weekday: 'long' }, { month: 'numeric', day: '2-digit' }, { minute: 'numeric', second: 'numeric', fractionalSecondDigits: 2 }, { dateStyle: 'medium', timeStyle: 'short' }, { month: 'long', day: 'numeric', hour: 'numeric' }, { dateStyle: 'long', timeStyle: 'medium' }, { hour: '2-digit', hourCycle: 'h23' }]) {
    const f = new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Tokyo', ...o });
    show(f.format(summer), f.formatToParts(summer));
  }
  for (const unit of ['year', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond', 'byte', 'kilobyte', 'megabyte', 'gigabyte', 'kilometer', 'kilogram']) {
    show(unit, ...['long', 'short', 'narrow'].flatMap((unitDisplay) => [1, -5, 1.5, 12345].map((n) => new Intl.NumberFormat('en-US', { style: 'unit', unit, unitDisplay }).format(n))));
  }
  for (const n of [0, 0.126, 1, 1.25, 9.96, 12.5, 999, 999.6, 1000, 1234, 12345, 99950, 999499, 999999, 1.05e6, 1.5e9, 2.5e12, 1.2e16, -1500]) {
    show(n, n.toLocaleString('en-US', { notation: 'compact' }), n.toLocaleString('en-US', { notation: 'compact', compactDisplay: 'long' }), n.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 }));
  }
  for (const type of ['conjunction', 'disjunction', 'unit']) for (const style of ['long', 'short', 'narrow']) show(type, style, ...[[], ['a'], ['a', 'b'], ['a', 'b', 'c', 'd']].map((l) => new Intl.ListFormat('en', { type, style }).format(l)));
  for (const unit of ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second']) {
    for (const style of ['long', 'short', 'narrow']) show(unit, ...['always', 'auto'].flatMap((numeric) => [-1, 0, 1, -2, 3.5, 1000, -0].map((n) => new Intl.RelativeTimeFormat('en', { style, numeric }).format(n, unit))));
  }
  show(new Intl.Locale('en-US').baseName, new Intl.Locale('en-US').region, new Intl.Locale('en-US').language);
}
