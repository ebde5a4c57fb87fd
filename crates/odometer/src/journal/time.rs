//! Times as records state them: RFC 3339 in UTC.

/// How many decimals of a second a time has at most.
const DECIMALS: usize = 9;

/// Is it a time such as `2026-11-19T08:30:00Z` or `2026-11-19T08:30:00.125Z`, on a day that exists?
pub(super) fn is_utc(text: &str) -> bool {
    fields(text).is_some_and(|[year, month, day, hour, minute, second]| {
        (1..=days(year, month)).contains(&day) && hour < 24 && minute < 60 && second <= 60
    })
}

/// Year, month, day, hour, minute and second, if all else is as it should be.
fn fields(text: &str) -> Option<[u32; 6]> {
    let (whole, decimals) = match text.strip_suffix('Z')?.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text.strip_suffix('Z')?, None),
    };
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |digits: &str| (1..=DECIMALS).contains(&digits.len()) && is_number(digits);
    if !decimals.is_none_or(fits) {
        return None;
    }
    let (date, time) = whole.split_once('T')?;
    let widths = [4, 2, 2, 2, 2, 2];
    let mut numbers = [0; 6];
    let mut parts = date.split('-').chain(time.split(':'));
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width)?;
        *number = is_number(part).then(|| part.parse().ok())??;
    }
    let separators = (date.matches('-').count(), time.matches(':').count());
    (separators == (2, 2) && parts.next().is_none()).then_some(numbers)
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_utc_and_nothing_else() {
        for time in [
            "2026-11-19T08:30:00Z",
            "2024-02-29T23:59:60Z",
            "2000-02-29T00:00:00.1Z",
            "0001-01-01T00:00:00.123456789Z",
        ] {
            assert!(is_utc(time), "{time}");
        }
        for other in [
            "",
            "Z",
            "2026-11-19",
            "2026-11-19T08:30Z",
            "2026-11-19T08:30:00",
            "2026-11-19T08:30:00+00:00",
            "2026-11-19t08:30:00z",
            "2026-11-19T08:30:00.Z",
            "2026-11-19T08:30:00.1234567890Z",
            "2026-11-19T08:30:00.1.2Z",
            "2026-02-29T08:30:00Z",
            "1900-02-29T08:30:00Z",
            "2026-00-10T08:30:00Z",
            "2026-13-10T08:30:00Z",
            "2026-11-31T08:30:00Z",
            "2026-11-00T08:30:00Z",
            "2026-11-19T24:30:00Z",
            "2026-11-19T08:60:00Z",
            "2026-11-19T08:30:61Z",
            "+026-11-19T08:30:00Z",
            "2026-11-19T08:30:-1Z",
            "2026-11:19T08-30:00Z",
            "2026-11-19T08:30:00Z ",
            "２026-11-19T08:30:00Z",
        ] {
            assert!(!is_utc(other), "{other}");
        }
    }
}
